import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  define,
  Framework,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { test } from "../../harness/testing.ts";

const methods = [all(), one(), create(), update(), remove()] as const;

@rest({ route: "/plans", methods })
@rest({ route: "/kept", methods, history: true })
@rest({ route: "/binned", methods, trash: { see: () => true } })
@rest({ route: "/owned", methods, tenant: "company" })
class Plan extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  company?: string;
}

class Draft extends FrameworkModel {
  name?: string;
  company?: string;
}
define(Draft, {
  fields: { name: {}, company: {} },
  rest: [
    { route: "/drafts", methods },
    { route: "/kept-drafts", methods, history: true, trash: { see: () => true } },
    { route: "/owned-drafts", methods, tenant: "company" },
  ],
});

@rest({ route: "/holders", methods, tenant: false })
class Holder extends FrameworkModel {
  @rest({ methods })
  @arrayProp({ items: () => Plan })
  plans!: Ref<Plan>[];
}

test("history, trash and tenant of one @rest hold for all routes of the class", async () => {
  await using app = await mountOnReplicaSet([Plan, Draft, Holder], {
    tenant: (req) => String(req.headers["x-company"] ?? "one"),
  });
  const { _id: holder } = await app.created("/holders", {});
  const routes = ["/plans", "/kept", "/binned", "/owned", "/drafts", "/owned-drafts"];
  const referred = `/holders/${holder}/plans`;
  for (const route of [...routes, referred]) {
    const { _id } = await app.created(route, { name: "a", company: "two" });
    const path = `${route}/${_id}`;
    const other = await app.get(path, { headers: { "x-company": "two" } });
    assertEquals(other.status, 404, route);
    assertEquals((await app.delete(path)).status, 204, route);
    const own = route === referred ? `/plans/${_id}` : path;
    const records = await app.get<unknown[]>(`${own}/history?trash=only`);
    assertEquals([records.status, records.body.length], [200, 2], route);
    if (route !== referred) assertEquals((await app.post(`${path}/restore`)).status, 200, route);
  }
  assertEquals(await getModel(Plan).collection.countDocuments({ company: "one" }), 5);
});

function split(...values: object[]): ModelClass {
  class Split extends FrameworkModel {
    company?: string;
    shop?: string;
  }
  const rests = values.map((each, index) => ({ route: `/r${index}`, methods: [all()], ...each }));
  define(Split, { fields: { company: {}, shop: {} }, rest: rests as never });
  return Split;
}

test("different values fail the start, which names the routes and the values", () => {
  for (
    const [values, ...parts] of [
      [
        [{}, { history: true }, { history: { keep: "1d" } }],
        "/r1",
        "/r2",
        "true",
        "{ keep: '1d' }",
      ],
      [[{ trash: true }, {}, { trash: { keep: "1d" } }], "/r0", "/r2", "true", "{ keep: '1d' }"],
      [[{ tenant: "company" }, { tenant: "shop" }], "/r0", "/r1", "'company'", "'shop'"],
      [[{}, { tenant: "company" }, { tenant: false }], "/r1", "/r2", "'company'", "false"],
    ] as [object[], ...string[]][]
  ) {
    const start = () => Framework.initialize({ models: [split(...values)], tenant: () => "a" });
    const { message } = assertThrows(start, TypeError, "different values");
    for (const part of parts) assert(message.includes(part), message);
  }
});
