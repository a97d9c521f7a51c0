import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one } from "../../../mod.ts";
import { prop, type QueryObject, removeAll, rest, RestError, update } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { giving, takeGiven } from "../../support/given.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../../support/support.ts";

const bare = { preFetch: takeGiven };
const hooked = { ...bare, postFetch: pass };
const lean = { ...hooked, lean: true };

class Part extends FrameworkModel {
  @prop({ type: Number })
  n?: number;
}

@rest({ route: "/bare", methods: [all(bare), one(bare), update(bare), removeAll(bare)] })
@rest({ route: "/hooked", methods: [all(hooked), one(hooked), removeAll(hooked)] as never[] })
@rest({ route: "/lean", methods: [all(lean as never), one(lean as never)] })
@rest({ route: "/roots", methods: [one()] })
class Paged extends FrameworkModel {
  @prop({ type: Number, index: true })
  n?: number;
  @arrayProp({ items: Number })
  at?: number[];
  @rest({ methods: [all(bare), removeAll(bare)] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods: [all(bare), removeAll(bare)] })
  @arrayProp({ items: () => Paged })
  others?: string[];
}

/** Stores four entities whose order in the collection is not that of their identifiers. */
async function paged() {
  const errors: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => {
    errors.push(error);
    return new RestError(500, "Seen");
  };
  const app = await mount([Paged], { onError });
  const ids = [1, 2, 3, 4].map(() => new mongoose.Types.ObjectId());
  const parts = [1, 2].map((n) => ({ n, _id: new mongoose.Types.ObjectId() }));
  const docs = ids.map((_id, n) => ({ _id, n, parts, others: ids, at: [n, n], __v: 0 }));
  await getModel(Paged).collection.insertMany([...docs].reverse() as never);
  const root = `/roots/${ids[0]}`;
  const lists = ["/bare", "/hooked", `${root}/parts`, `${root}/others`];
  const count = () => getModel(Paged).collection.countDocuments({ "parts.1": { $exists: true } });
  return Object.assign(app, { errors, id: String(ids[0]), lists, count });
}

const BAD_LIMITS = [NaN, 0, -0, -1, 1.5, Infinity, 2 ** 60, "x", "", "0", true, {}, [2], 2n];

test("all() and removeAll() answer 500, and do nothing, when a hook's limit is not a count", async () => {
  await using app = await paged();
  for (const limit of BAD_LIMITS) {
    const given = giving({ options: { limit } });
    for (const list of app.lists) {
      assertEquals([limit, (await app.get(list, given)).status], [limit, 500]);
      assertEquals((await app.delete(list, given)).status, 500);
      const [first, second] = app.errors.splice(0);
      assertInstanceOf(first, RangeError);
      assertInstanceOf(second, RangeError);
      assert(/options\.limit .* all\(\) of "(Paged|Part)"/.test(first.message), first.message);
      assert(second.message.includes("removeAll() of"), second.message);
    }
    assertEquals((await app.get("/lean", given)).status, 500);
    assertEquals(await app.count(), 4);
    app.errors.length = 0;
  }
});

test("one() and update() name their entity: a limit of a hook is not looked at", async () => {
  await using app = await paged();
  for (const [limit, skip] of [[NaN, 2], [0, 2], [-1, 2], ["x", 2], [1, -1]]) {
    const given = giving({ options: { limit, skip } });
    for (const path of ["bare", "hooked", "lean"]) {
      assertEquals((await app.get(`/${path}/${app.id}`, given)).status, 200);
    }
    assertEquals((await app.patch(`/bare/${app.id}`, { n: 9 }, given)).status, 200);
  }
});

const FIRST_PAGES: QueryObject[] = [
  { skip: NaN, limit: 3 },
  { skip: 0, limit: 3 },
  { skip: "0", limit: "3" },
  { skip: undefined, limit: 3 },
  { skip: null, limit: 3 },
  { limit: 3 },
  { limit: 3, sort: "" },
  { limit: 3, sort: [] },
  { limit: 3, sort: {} },
];

test("all() sorts the first page by _id, as the others, whatever says that it is the first", async () => {
  await using app = await paged();
  for (const first of FIRST_PAGES) {
    for (const list of ["bare", "hooked", "lean", `roots/${app.id}/others`]) {
      const numbers = [];
      for (const options of [first, { skip: 3, limit: 3 }]) {
        const { body } = await app.get<EntityBody[]>(`/${list}`, giving({ options }));
        numbers.push(body.map(({ n }) => n));
      }
      assertEquals([list, first, numbers], [list, first, [[0, 1, 2], [3]]]);
    }
  }
});

test("all() leaves the order to a filter by distance when a hook sets a limit alone", async () => {
  await using app = await paged();
  await getModel(Paged).collection.createIndex({ at: "2d" });
  const queries = [{ at: { $near: [3, 3] } }, {
    $and: [{ at: { $near: [3, 3] } }, { n: { $gt: 0 } }],
  }];
  for (const query of queries) {
    for (const list of ["bare", "hooked", "lean"]) {
      const given = giving({ options: { limit: 2 } });
      const { body } = await app.get<EntityBody[]>(`/${list}${asQuery(query)}`, given);
      assertEquals([list, body.map(({ n }) => n)], [list, [3, 2]]);
    }
  }
});

test("removeAll() removes the first page of a limit alone in the order of _id", async () => {
  for (const list of ["bare", "hooked"]) {
    await using app = await paged();
    const given = giving({ options: { limit: 2 } });
    assertEquals((await app.delete(`/${list}`, given)).status, 204);
    const left = await getModel(Paged).collection.find().sort({ n: 1 }).toArray();
    assertEquals(left.map(({ n }) => n), [2, 3]);
  }
});
