import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  Framework,
  FrameworkModel,
  getModel,
  prop,
  rest,
  type Restricted,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type ErrorBody, mount } from "../../support/support.ts";

const isGuest = (req: { readonly headers: Record<string, unknown> }) =>
  req.headers["x-guest"] === "yes";

@rest({
  route: "/orders",
  methods: [all({
    distinct: ["state", "rank", "price", "at", "agent"],
    sort: ["rank"],
    search: ["state"],
    page: { max: 100 },
  })],
  scope: (req) => req.headers["x-shop"] === undefined ? {} : { shop: req.headers["x-shop"] },
})
class Order extends FrameworkModel {
  @prop()
  state?: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ type: mongoose.Types.Decimal128 })
  price?: mongoose.Types.Decimal128;
  @prop({ type: Date })
  at?: Date;
  @prop()
  shop?: string;
  @prop({ hidden: isGuest })
  agent?: Restricted<string>;
}

/** Serves orders, some of them with values that no body could have stored. */
async function mountOrders() {
  const app = await mount([Order]);
  await getModel(Order).collection.insertMany([
    { state: "open", rank: 2, shop: "a", agent: "Ann", at: new Date("2024-03-01") },
    { state: "closed", rank: 1, shop: "a", agent: "Bob" },
    { state: "open", rank: 2, shop: "b", price: mongoose.Types.Decimal128.fromString("1.50") },
    { state: null, rank: NaN, shop: "b" },
    { state: ["x"], rank: { y: 1 }, shop: "b" },
    { rank: 10, shop: "b", at: new Date("2023-03-01") },
  ]);
  return app;
}

test("distinct answers the different values of a field, in their order", async () => {
  await using app = await mountOrders();
  const read = (query: string, headers = {}) => app.read<unknown>(`/orders?${query}`, { headers });
  assertEquals(await read("distinct=state"), ["closed", "open"]);
  assertEquals(await read("distinct=rank"), [1, 2, 10]);
  assertEquals(await read("distinct=price"), ["1.50"]);
  assertEquals(await read("distinct=at"), ["2023-03-01T00:00:00.000Z", "2024-03-01T00:00:00.000Z"]);
  assertEquals(await read(`distinct=rank&${asQuery({ state: "open" }).slice(1)}`), [2]);
  assertEquals(await read("distinct=rank&search=closed"), [1]);
  assertEquals(await read("distinct=rank", { "x-shop": "b" }), [2, 10]);
  assertEquals(await read(`distinct=rank&${asQuery({ state: "none" }).slice(1)}`), []);
});

test("distinct tells nothing of a field that its reader may not see", async () => {
  await using app = await mountOrders();
  assertEquals(await app.read<unknown>("/orders?distinct=agent"), ["Ann", "Bob"]);
  const refuse = async (name: string) => {
    const { status, body } = await app.get<ErrorBody>(`/orders?distinct=${name}`, {
      headers: { "x-guest": "yes" },
    });
    return [status, JSON.stringify(body).replaceAll(name, "NAME")];
  };
  assertEquals(await refuse("agent"), await refuse("nobody"));
});

test("distinct beside other parameters, and with another name, is a 400", async () => {
  await using app = await mountOrders();
  for (const other of ["limit=1", "skip=1", "sort=rank"]) {
    const { status, body } = await app.get<ErrorBody & { allowed: string }>(
      `/orders?distinct=rank&${other}`,
    );
    assertEquals([status, body.allowed], [400, "no distinct beside it"], other);
  }
  for (const wrong of ["distinct=shop", "distinct=state,rank", "distinct=", "distinct[a]=rank"]) {
    assertEquals((await app.get(`/orders?${wrong}`)).status, 400, wrong);
  }
  assertEquals((await app.get("/orders?distinct=rank&distinct=state")).status, 400);
});

test("more than 1,000 values are a 409, and 1,000 are not", async () => {
  await using app = await mount([Order]);
  await getModel(Order).collection.insertMany(
    Array.from({ length: 1000 }, (_, rank) => ({ rank })),
  );
  assertEquals((await app.read<unknown[]>("/orders?distinct=rank")).length, 1000);
  await getModel(Order).collection.insertOne({ rank: 1000 });
  const { status, body } = await app.get<ErrorBody & { limit: number }>("/orders?distinct=rank");
  assertEquals([status, body.code, body.limit], [409, "CONFLICT", 1000]);
});

test("distinct with a hook on entities, and of a list, is an error at start-up", () => {
  const refused = (options: object, message: string) => {
    @rest({ route: "/wrong", methods: [all(options as never)] })
    class Wrong extends FrameworkModel {
      @prop()
      name?: string;
    }
    assertThrows(() => Framework.initialize({ models: [Wrong] }), TypeError, message);
  };
  const hook = (_req: unknown, entity: object) => entity;
  refused(
    { distinct: ["name"], postFetch: hook },
    'all() cannot have "distinct": the values would tell of what "postFetch" leaves out',
  );
  refused({ distinct: ["nothing"] }, 'has "nothing" in "distinct", which is no field');
  refused({ distinct: [] }, 'needs a list of fields as "distinct"');
});

test("the description and the OpenAPI document tell of distinct", () => {
  const [route] = Framework.describe({ models: [Order] });
  const parameter = route?.parameters.find(({ name }) => name === "distinct");
  assertEquals(parameter?.fields, ["state", "rank", "price", "at", "agent"]);
});
