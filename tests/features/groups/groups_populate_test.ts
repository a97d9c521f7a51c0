import { assertEquals } from "@std/assert";
import { all, create, FrameworkModel, getModel, one, prop, type Ref, rest } from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountDocumented } from "../../support/documented.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

function isNoBoss(req: FrameworkRequest): boolean {
  return req.get("x-role") !== "boss";
}

@rest({
  route: "/shops",
  tenant: "team",
  trash: true,
  scope: () => ({ isOpen: { $ne: false } }),
  methods: [one(), create()],
})
class Shop extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  team?: string;
  @prop({ type: Boolean, select: false })
  isOpen?: boolean;
  @prop({ hidden: isNoBoss })
  rent?: string;
}

@rest({ route: "/cities", methods: [one()], tenant: false })
class City extends FrameworkModel {
  @prop()
  name?: string;
}

const BY = ["shop", "city", "state", "agent"] as const;

@rest({
  route: "/sales",
  tenant: false,
  methods: [
    all({
      groups: { by: BY, count: true },
      populate: { shop: true, city: { always: true, select: ["name"] }, agent: true },
    }),
  ],
})
class Sale extends FrameworkModel {
  @prop({ ref: Shop })
  shop?: Ref<Shop>;
  @prop({ ref: City })
  city?: Ref<City>;
  @prop()
  state?: string;
  @prop({ ref: City, hidden: isNoBoss })
  agent?: Ref<City>;
}

const SHOPS = [
  { name: "open", team: "a", rent: "9" },
  { name: "closed", team: "a", isOpen: false },
  { name: "foreign", team: "b" },
  { name: "trashed", team: "a", deletedAt: new Date() },
];

function ofTenant(req: FrameworkRequest): string {
  return req.get("x-team") ?? "a";
}

async function storeSales(): Promise<{ readonly shops: string[]; readonly city: string }> {
  const shops = await getModel(Shop).collection.insertMany(
    SHOPS.map((shop) => ({ ...shop, __v: 0 })),
  );
  const city = await getModel(City).create({ name: "Rome" });
  const ids = Object.values(shops.insertedIds);
  const sales = [...ids, ids[0], undefined].map((shop, index) => ({
    ...shop && { shop },
    city: city._id,
    agent: city._id,
    state: index % 2 === 0 ? "x" : "y",
  }));
  await getModel(Sale).collection.insertMany(sales);
  return { shops: ids.map(String), city: String(city._id) };
}

const MODELS = [Shop, City, Sale];

test("populate beside group shows entities, under their scope, tenant and trash", async () => {
  await using app = await mount(MODELS, { tenant: ofTenant });
  const { shops } = await storeSales();
  const [open, , foreign] = shops;
  const rows = await app.read<{ shop: unknown; count: number }[]>(
    "/sales?group=shop&populate=shop&sort=shop",
  );
  const nothing = { shop: null, count: 1 };
  assertEquals(rows, [
    nothing,
    { shop: { _id: open, name: "open", team: "a", __v: 0 }, count: 2 },
    ...[nothing, nothing, nothing],
  ]);
  const ofOther = await app.read<unknown>("/sales?group=shop&populate=shop&sort=-shop", {
    headers: { "x-team": "b" },
  });
  assertEquals(ofOther, [
    nothing,
    { shop: { _id: foreign, name: "foreign", team: "b", __v: 0 }, count: 1 },
    ...[nothing, { shop: null, count: 2 }, nothing],
  ]);
});

test("populate beside group shows the fields that the reader may see", async () => {
  await using app = await mount(MODELS, { tenant: ofTenant });
  const { shops: [open], city } = await storeSales();
  const boss = { headers: { "x-role": "boss" } };
  const rows = await app.read<{ shop: unknown }[]>("/sales?group=shop&populate=shop", boss);
  assertEquals(rows[1]?.shop, { _id: open, name: "open", team: "a", rent: "9", __v: 0 });
  const agents = await app.read<unknown>("/sales?group=agent&populate=agent", boss);
  assertEquals(agents, [{ agent: { _id: city, name: "Rome", __v: 0 }, count: 6 }]);
  const { status, body } = await app.get<ErrorBody>("/sales?group=shop&populate=agent");
  const allowed = "fields out of shop, city";
  assertEquals([status, body.message], [400, `Parameter "populate" takes ${allowed}`]);
});

test("groups show identifiers without populate, and entities of references with always", async () => {
  await using app = await mount(MODELS, { tenant: ofTenant });
  const { shops, city } = await storeSales();
  const rows = await app.read<{ shop: unknown }[]>("/sales?group=shop&sort=shop");
  assertEquals(rows.map(({ shop }) => shop), [null, ...shops]);
  assertEquals(await app.read<unknown>("/sales?group=city,state"), [
    { city: { _id: city, name: "Rome" }, state: "x", count: 3 },
    { city: { _id: city, name: "Rome" }, state: "y", count: 3 },
  ]);
});

for (const query of ["group=state&populate=shop", "group=city&populate=shop,city"]) {
  test(`groups refuse to populate another reference than those of ?${query}`, async () => {
    await using app = await mount(MODELS, { tenant: ofTenant });
    const { status, body } = await app.get<ErrorBody>(`/sales?${query}`);
    const message = 'Parameter "populate" takes fields of group beside it';
    assertEquals([status, body.message], [400, message]);
  });
}

test("more groups than are read at once have their entities", async () => {
  await using app = await mount(MODELS, { tenant: ofTenant });
  const cities = Array.from({ length: 1000 }, (_, index) => ({ name: `city ${index}` }));
  const { insertedIds } = await getModel(City).collection.insertMany(cities);
  const ids = Object.values(insertedIds);
  const states = ids.map((city, index) => ({ city, state: String(index % 7) }));
  await getModel(Sale).collection.insertMany(states);
  const rows = await app.read<{ city: { _id: string; name: string }; state: string }[]>(
    "/sales?group=state,city&populate=city",
  );
  assertEquals(rows.length, 1000);
  for (const { city, state } of rows) {
    const index = ids.findIndex((id) => String(id) === city._id);
    assertEquals([city.name, state], [`city ${index}`, String(index % 7)]);
  }
});

test("the document describes groups with entities, and the answers are as it says", async () => {
  await using app = await mountDocumented(MODELS, { tenant: ofTenant });
  await storeSales();
  const isAnswer = app.validator(app.answer("GET", "/sales"));
  for (const query of ["group=shop", "group=shop,city&populate=shop", "group=city,state"]) {
    const rows = await app.read<unknown>(`/sales?${query}`);
    assertEquals([query, isAnswer(rows), isAnswer.errors], [query, true, null]);
  }
  const isGroup = app.named("SaleGroup");
  assertEquals(
    isGroup({ shop: { _id: "6a5f1c2a9b1e8a0012a4d004", __v: 0, name: "x" }, count: 1 }),
    true,
  );
  assertEquals(isGroup({ shop: { name: 5 }, count: 1 }), false);
});
