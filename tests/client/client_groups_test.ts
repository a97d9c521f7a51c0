import { assertEquals, assertRejects } from "@std/assert";
import { ApiError, connect } from "@mongrove/mongrove/client";
import { Types } from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one, prop, type Ref, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { heldFetch } from "./held/held_fetch.ts";
import { mount } from "../support/support.ts";

@rest({ route: "/sellers", methods: [one()] })
class Seller extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({
  route: "/sales",
  methods: [
    all({
      groups: {
        by: ["shop", { at: "month" }, "isPaid", "seller"],
        timeZone: ["UTC", "America/New_York"],
        ...{ count: true, sum: ["pieces", "price"], avg: ["pieces"] },
      },
      search: ["shop"],
      populate: { seller: { select: ["name"] } },
    }),
  ],
})
class Sale extends FrameworkModel {
  @prop()
  shop?: string;
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Boolean })
  isPaid?: boolean;
  @prop({ type: Number })
  pieces?: number;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ ref: Seller })
  seller?: Ref<Seller>;
}

@rest({ route: "/customers", methods: [one()] })
class Customer extends FrameworkModel {
  @rest({ methods: [all({ groups: { by: ["shop"], sum: ["pieces"] } })] })
  @arrayProp({ items: Sale })
  sales?: Ref<Sale>[];
}

const SALES = [
  { shop: "a", at: new Date("2024-03-01"), isPaid: true, pieces: 1, price: "0.1" },
  { shop: "a", at: new Date("2024-03-31"), isPaid: true, pieces: 2, price: "0.2" },
  { shop: "b", at: new Date("2024-04-01"), isPaid: false, pieces: 6 },
];

test("groups() gives what entities have in common, and their numbers", async () => {
  const held = await heldFetch([Sale, Customer], fetch);
  await using app = await mount([Sale, Customer]);
  const docs = await getModel(Sale).create(SALES as never[]);
  const api = connect(app.url, { fetch: held.fetch });
  const sales = api.resource<Sale>("/sales");
  assertEquals(
    await sales.groups({ by: ["shop", "at"], sum: ["pieces", "price"], sort: ["-sum.pieces"] }),
    [
      { shop: "b", at: "2024-04", count: 1, sum: { pieces: 6, price: "0" } },
      { shop: "a", at: "2024-03", count: 2, sum: { pieces: 3, price: "0.3" } },
    ],
  );
  assertEquals(await sales.groups({ avg: ["pieces"], q: { isPaid: true } }), [
    { count: 2, avg: { pieces: 1.5 } },
  ]);
  assertEquals(await sales.groups({ by: ["isPaid"], sum: [], search: "B" }), [
    { isPaid: false, count: 1 },
  ]);
  const ids = docs.slice(1).map(({ _id }) => _id);
  const customer = await getModel(Customer).create({ sales: ids as never });
  const own = api.resource<Customer>("/customers").part("sales", String(customer._id));
  assertEquals(await own.groups({ by: ["shop"], sum: ["pieces"] }), [
    { shop: "a", sum: { pieces: 2 } },
    { shop: "b", sum: { pieces: 6 } },
  ]);
  held.check();
});

test("groups() shows the entities of references, and the days of a time zone", async () => {
  await using app = await mount([Sale, Seller]);
  const seller = await getModel(Seller).create({ name: "Ann" });
  await getModel(Sale).create({ seller: seller._id as never, at: new Date("2024-03-01") });
  const sales = connect(app.url).resource<Sale>("/sales");
  const [group] = await sales.groups({
    by: ["seller", "at"],
    populate: ["seller"],
    timeZone: "America/New_York",
  });
  assertEquals([group?.seller?.name, group?.at], ["Ann", "2024-02"]);
});

test("groups() fails with what the server says of an undeclared name", async () => {
  await using app = await mount([Sale]);
  const sales = connect(app.url).resource<Sale>("/sales");
  const { status, body } = await assertRejects(
    () => sales.groups({ sum: ["price"], by: ["price" as never] }),
    ApiError,
  );
  assertEquals([status, (body as { parameter: string }).parameter], [400, "group"]);
});
