import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type HooksOf,
  one,
  prop,
  type Ref,
  remove,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { Note } from "../fixtures/library.ts";
import { SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount, NOBODY } from "../support/support.ts";
import { namesIn, namesOf, sortedIn } from "../support/names.ts";

/** How the parent is shown, set by each test. */
let show: (req: FrameworkRequest, crate: Entity<Crate>) => object | null = (_req, crate) => crate;
let read: (req: FrameworkRequest) => unknown = () => getModel(Crate).findOne();

const guard: HooksOf<Crate> = {
  postFetch: (req, crate) => show(req, crate),
  fetch: (req) => read(req),
};

@rest({ route: "/crates", methods: [one<Crate>(guard)] })
class Crate extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Note, embedded: true })
  items?: Note[];
  @rest({ methods: SIX })
  @arrayProp({ items: Note })
  refs?: Ref<Note>[];
}

async function putCrate() {
  const ref = await getModel(Note).create({ name: "R" });
  const fields = { name: "X", items: [{ name: "A" }], refs: [ref._id] };
  const crate = await getModel(Crate).create(fields as never) as Crate;
  show = (_req, each) => each;
  read = () => getModel(Crate).findById(crate._id);
  return { crate, ref, at: `/crates/${crate._id}` };
}

/** Everything that can be done below a parent, whatever its hooks have made of it. */
async function checkParts(app: Client, at: string): Promise<void> {
  for (const [base, name] of [[`${at}/items`, "A"], [`${at}/refs`, "R"]] as const) {
    assertEquals([base, await namesIn(app, base)], [base, name]);
    const made = await app.post(base, { name: "N" });
    assertEquals([base, made.status], [base, 201]);
    assertEquals((await app.patch(`${base}/${made.body._id}`, { name: "M" })).status, 200);
    assertEquals(await sortedIn(app, base), [name, "M"].sort().join(""));
    assertEquals((await app.delete(`${base}/${made.body._id}`)).status, 204);
    assertEquals(await namesIn(app, base), name);
  }
}

test("parts are reached below a parent that postFetch has reduced, or copied", async () => {
  await using app = await mount([Crate]);
  const { at } = await putCrate();
  const shown: typeof show[] = [
    (_req, crate) => ({ _id: crate._id, name: crate.name }),
    (_req, crate) => ({ name: crate.name }),
    (_req, crate) => crate.toObject(),
    (_req, crate) => JSON.parse(JSON.stringify(crate)),
    (_req, crate) => Object.assign(crate, { name: "changed" }),
  ];
  for (show of shown) await checkParts(app, at);
  assertEquals((await getModel(Crate).findOne())?.name, "X");
});

test("parts are reached below a parent that a fetch hook read plainly, or in part", async () => {
  await using app = await mount([Crate]);
  const { crate, at } = await putCrate();
  const model = getModel(Crate);
  const reads: typeof read[] = [
    () => model.findById(crate._id).lean(),
    () => model.findById(crate._id, { name: 1 }),
    () => model.findById(crate._id, { refs: 0, items: 0 }).lean(),
    () => model.findById(crate._id).populate("refs"),
    () => ({ _id: String(crate._id) }),
    () => [{ _id: crate._id }],
  ];
  for (read of reads) await checkParts(app, at);
});

test("parts below a parent that was read without _id are 500, and nothing is touched", async () => {
  await using app = await mount([Crate], { onError: () => new RestError(500, "seen") });
  const { crate, at } = await putCrate();
  for (const each of [() => ({ name: "X" }), () => getModel(Crate).findOne({}, { _id: 0 })]) {
    read = each;
    assertEquals((await app.get(`${at}/items`)).status, 500);
    assertEquals((await app.post(`${at}/items`, {})).status, 500);
    assertEquals((await app.delete(`${at}/refs`)).status, 500);
  }
  const after = await getModel(Crate).findById(crate._id);
  assertEquals([after?.items?.length, after?.refs?.length, after?.__v], [1, 1, 0]);
});

test("what postFetch takes out of the parent's references is out of reach", async () => {
  await using app = await mount([Crate]);
  const { ref, at } = await putCrate();
  const shown: typeof show[] = [
    (_req, crate) => Object.assign(crate, { refs: [] }),
    (_req, crate) => ({ _id: crate._id, refs: [] }),
  ];
  for (show of shown) {
    assertEquals(await namesIn(app, `${at}/refs`), "");
    assertEquals((await app.get(`${at}/refs/${ref._id}`)).status, 404);
    assertEquals((await app.delete(`${at}/refs/${ref._id}`)).status, 404);
    assertEquals((await app.delete(`${at}/refs`)).status, 204);
  }
  assertEquals(await getModel(Note).countDocuments(), 1);
});

test("the parts of a parent that lives in another database are those that it lists", async () => {
  await using app = await mount([Crate]);
  const { ref, at } = await putCrate();
  await getModel(Note).create({ name: "S" });
  read = () => ({ _id: NOBODY, refs: [String(ref._id)] });
  assertEquals(await namesIn(app, `${at}/refs`), "R");
  assertEquals((await app.get<EntityBody>(`${at}/refs/${ref._id}`)).body.name, "R");
  assertEquals((await app.patch(`${at}/refs/${ref._id}`, { name: "T" })).status, 200);
  // There is no such parent here that an identifier could be written to
  assertEquals((await app.post(`${at}/refs`, { name: "U" })).status, 409);
  assertEquals(namesOf(await getModel(Note).find()).sort(), ["S", "T"]);
});

test("fetch and persist of a part replace its reads and writes", async () => {
  const written: unknown[] = [];
  const persist = (_req: FrameworkRequest, item: object) => {
    written.push({ ...item });
    return { ...item, saved: true };
  };
  const fetch = () => [{ name: "P", stars: 1 }];
  @rest({ route: "/mirrors", methods: [one()] })
  class Mirror extends FrameworkModel {
    @rest({ methods: [all({ fetch }), update({ fetch, persist }), remove({ fetch, persist })] })
    @arrayProp({ items: Note, embedded: true, apart: false })
    items?: Note[];
  }
  await using app = await mount([Mirror]);
  const { _id } = await getModel(Mirror).create({ items: [{ name: "A" }] } as never) as Mirror;
  const url = `/mirrors/${_id}/items`;
  assertEquals((await app.get(url)).body, [{ name: "P", stars: 1 }]);
  assertEquals((await app.patch(`${url}/any`, { stars: 2 })).body as unknown, {
    name: "P",
    stars: 2,
    saved: true,
  });
  assertEquals((await app.delete(`${url}/any`)).status, 204);
  assertEquals(written, [{ name: "P", stars: 2 }, { name: "P", stars: 1 }]);
  assertEquals((await getModel(Mirror).findById(_id))?.__v, 0);
  assertEquals((await app.get(`/mirrors/${NOBODY}/items${asQuery({})}`)).status, 404);
});
