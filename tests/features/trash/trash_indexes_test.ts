import { assertEquals, assertStringIncludes } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type ReadOnly,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { until, whenIndexed } from "../../support/until.ts";
import { as, KEEPER } from "./books.ts";

const trash = { see: (req: FrameworkRequest) => req.headers["x-user"] === "keeper" };
const methods = [all(), one(), create(), update(), remove()];
// A model is compiled, and its indexes are built, when it is first asked for.
const getConnection = () => mongoose.connection;

@rest({ route: "/pets", methods, trash, tenant: "owner" })
class Pet extends FrameworkModel {
  @prop({ readonly: true })
  readonly owner?: ReadOnly<string>;
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    const kind = new mongoose.Schema({ chip: { type: String, unique: true } } as never);
    schema.discriminator("Hound", kind as never, { value: "Hound" });
  }
}

test("a unique field of a kind is unique among living entities of the tenant", async () => {
  await using app = await mount([Pet], { tenant: () => "ann" });
  await getModel(Pet).discriminators?.Hound?.init();
  const hound = { __t: "Hound", owner: "ann", chip: "1" };
  const pets = [{ ...hound, deletedAt: new Date() }, hound, { ...hound, owner: "bob" }];
  const { collection } = getModel(Pet);
  const { insertedIds } = await collection.insertMany(pets as never);
  const path = `/pets/${insertedIds[0]}`;
  const { status, body } = await app.post(`${path}/restore`, undefined, KEEPER);
  assertEquals([status, Object(body).fields], [409, ["chip"]]);
  assertEquals((await app.delete(`/pets/${insertedIds[1]}`)).status, 204);
  assertEquals((await app.post(`${path}/restore`, undefined, KEEPER)).status, 200);
});

@rest({ route: "/cards", methods, trash, getConnection })
class Card extends FrameworkModel {
  @prop({ unique: true })
  name?: string;
  @prop()
  note?: string;
}

test("creations and restorations need the unique indexes of a class with a trash", async () => {
  using _log = stub(console, "warn");
  await using app = await mount([Card], { onError: () => {} });
  const stored = mongoose.connection.collection("cards");
  const deletedAt = new Date();
  const { insertedIds } = await stored.insertMany([{ name: "a" }, { name: "a" }, { deletedAt }]);
  await getModel(Card).init().catch(() => {});
  const statuses = [
    await app.post("/cards", { note: "a" }),
    await app.post(`/cards/${insertedIds[2]}/restore`, undefined, KEEPER),
    await app.patch(`/cards/${insertedIds[0]}`, { note: "b" }),
  ].map(({ status }) => status);
  assertEquals(statuses, [503, 503, 200]);
});

@rest({ route: "/seats", methods, trash, tenant: "owner", getConnection })
class Seat extends FrameworkModel {
  @prop({ readonly: true })
  readonly owner?: ReadOnly<string>;
  @prop({ unique: true, required: true })
  name!: string;
}

test('an older unique index is named, and indexes: "required" refuses writes', async () => {
  for (const keys of [{ name: 1 }, { owner: 1, name: 1 }] as const) {
    using log = stub(console, "warn");
    const told: string[] = [];
    const onError = (_req: unknown, error: unknown) => void told.push(String(Object(error).cause));
    const tenant = () => "ann";
    await using app = await mount([Seat], { tenant, indexes: "required", onError });
    const stored = mongoose.connection.collection("seats");
    await stored.createIndex(keys, { unique: true });
    const add = async () => (await app.post("/seats", { name: "a" }, as("ann"))).status;
    assertEquals([await add(), await add()], [503, 503]);
    const name = Object.keys(keys).map((key) => `${key}_1`).join("_");
    await until(() => log.calls.length > 0);
    assertStringIncludes(String(log.calls[0]?.args), name);
    assertStringIncludes(String(told[0]), name);
    await whenIndexed(() => stored.dropIndex(name));
    await until(async () => await add() === 201, { everyMs: 200 });
    assertEquals(await add(), 409);
  }
});
