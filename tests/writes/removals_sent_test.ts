import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, create, FrameworkModel, getModel, one, prop, remove, rest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { mount } from "../support/support.ts";

class Note extends FrameworkModel {
  @prop()
  text?: string;
}

/** Another client is faster. */
async function removeBefore(_req: unknown, note: Found): Promise<Found> {
  await getModel(Found).collection.deleteOne({ _id: note._id as never });
  return note;
}

@rest({ route: "/plain", methods: [remove()] })
@rest({ route: "/raced", methods: [remove({ preSave: removeBefore })] })
class Found extends Note {}

test("a removal that finds nothing is refused on a connection that keeps the types of numbers", async () => {
  await using app = await mount([Found]);
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri, { promoteValues: false });
  const { insertedId } = await getModel(Found).collection.insertOne({ text: "a" });
  const missing = new mongoose.Types.ObjectId();
  assertEquals((await app.delete(`/plain/${missing}`)).status, 404);
  assertEquals((await app.delete(`/raced/${insertedId}`)).status, 409);
});

@rest({
  route: "/recorded",
  methods: [one(), create(), remove({ preSave: pass })],
  history: true,
  schemaOptions: { read: "secondaryPreferred" },
})
class Recorded extends Note {}

test("an entity whose class reads from secondaries is removed with its record", async () => {
  await using app = await mountOnReplicaSet([Recorded]);
  const { _id } = await app.created("/recorded", { text: "a" });
  assertEquals((await app.delete(`/recorded/${_id}`)).status, 204);
});

@rest({
  route: "/collated",
  methods: [all(), one(), remove()],
  scope: () => ({ text: "a" }),
  schemaOptions: { collation: { locale: "en", strength: 2 }, autoCreate: false, autoIndex: false },
})
class Collated extends Note {}

test("a removal compares by the collation of the schema, as a read does", async () => {
  await using app = await mount([Collated]);
  const { collection } = getModel(Collated);
  const { insertedId } = await collection.insertOne({ text: "A" });
  assertEquals((await app.read<unknown[]>("/collated")).length, 1);
  assertEquals((await app.delete(`/collated/${insertedId}`)).status, 204);
  assertEquals(await collection.countDocuments(), 0);
});

const trash = { see: () => true };

@rest({
  route: "/untold",
  methods: [remove()],
  trash,
  schemaOptions: { writeConcern: { w: 0 } as never },
})
@rest({ route: "/untold-hooked", methods: [remove({ preSave: pass })], trash, main: true })
class Untold extends Note {}

test("a removal into the trash of which the database tells nothing is answered as done", async () => {
  await using app = await mount([Untold]);
  for (const route of ["/untold", "/untold-hooked"]) {
    const { insertedId } = await getModel(Untold).collection.insertOne({ text: "a" });
    assertEquals((await app.delete(`${route}/${insertedId}`)).status, 204, route);
  }
});
