import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one, prop } from "../../mod.ts";
import {
  type FrameworkRequest,
  type QueryObject,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { type Client, client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";

/** What the next request's hooks put into the filter. */
let given: QueryObject = {};

class Part extends FrameworkModel {
  @prop({ type: Object })
  free?: object;
}

const bare = {
  preFetch: (req: FrameworkRequest) => {
    req.framework.filter = { ...req.framework.filter, ...given };
    return true;
  },
};
const hooked = { ...bare, postFetch: pass };

function five(hooks: object) {
  return [all, one, update, remove, removeAll].map((make) => make(hooks as never)) as never[];
}

const scope = () => ({ rank: { $gt: 0 } });

@rest({ route: "/bare", methods: five(bare), scope })
@rest({ route: "/hooked", methods: five(hooked), scope })
@rest({ route: "/roots", methods: [one()], scope })
class Guarded extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ type: Object })
  free?: object;
  @rest({ methods: [all(bare), removeAll(bare)] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
}

/** Serves one entity, under a host that has set `sanitizeFilter`, on Mongoose or on the connection alone. */
async function guarded(where: "mongoose" | "connection") {
  const app = await mount([Guarded]);
  const holder = where === "mongoose" ? mongoose : mongoose.connection;
  holder.set("sanitizeFilter", true);
  const parts = [{ _id: new mongoose.Types.ObjectId(), free: "x" }];
  const item = { name: "a", rank: 5, free: "x", parts };
  const { insertedIds } = await getModel(Guarded).collection.insertMany([
    { ...item, __v: 0 },
    { ...item, rank: 0, __v: 0 },
  ]);
  return {
    ...app,
    id: String(insertedIds[0]),
    out: String(insertedIds[1]),
    count: async () => await getModel(Guarded).collection.countDocuments(),
    async [Symbol.asyncDispose]() {
      holder.set("sanitizeFilter", undefined as never);
      given = {};
      await app[Symbol.asyncDispose]();
    },
  };
}

async function statusesAt({ get, patch }: Client, id: string, query = ""): Promise<unknown[]> {
  const list = await get<unknown[]>(query);
  const single = await get(`/${id}${query}`);
  const changed = await patch(`/${id}${query}`, { name: "b" });
  return [list.body.length, single.status, changed.status];
}

test("filter of a hook selects by literals alone when the host has set sanitizeFilter", async (t) => {
  for (const where of ["mongoose", "connection"] as const) {
    await t.step(where, async () => {
      await using app = await guarded(where);
      // What a parser makes of `?free[$ne]=`, copied into the filter.
      for (const filter of [{ free: { $ne: null } }, { $or: [{ free: { $gt: "" } }] }]) {
        given = filter;
        for (const path of ["/bare", "/hooked"]) {
          const base = client(app.url + path);
          assertEquals(await statusesAt(base, app.id), [0, 404, 404]);
          assertEquals((await base.delete(`/${app.id}`)).status, 404);
          assertEquals((await base.delete()).status, 204);
        }
        const parts = `/roots/${app.id}/parts`;
        assertEquals((await app.get(parts)).body, []);
        assertEquals((await app.delete(parts)).status, 204);
      }
      given = {};
      assertEquals((await app.get<[]>(`/roots/${app.id}/parts`)).body.length, 1);
      assertEquals(await app.count(), 2);
    });
  }
});

test("scope, q and trusted operators of hooks select when the host has set sanitizeFilter", async (t) => {
  for (const where of ["mongoose", "connection"] as const) {
    await t.step(where, async () => {
      await using app = await guarded(where);
      const query = asQuery({ rank: { $gte: 5 }, $or: [{ name: { $regex: "^[ab]" } }] });
      for (const filter of [{}, { free: "x" }, { free: mongoose.trusted({ $ne: null }) }]) {
        given = filter;
        for (const path of ["/bare", "/hooked"]) {
          const base = client(app.url + path);
          assertEquals(await statusesAt(base, app.id, query), [1, 200, 200]);
          assertEquals((await base.get(`/${app.out}`)).status, 404);
        }
        const parts = `/roots/${app.id}/parts`;
        assertEquals((await app.get<[]>(parts)).body.length, 1);
      }
      given = {};
      assertEquals((await app.delete("/bare")).status, 204);
      assertEquals(await app.count(), 1);
    });
  }
});
