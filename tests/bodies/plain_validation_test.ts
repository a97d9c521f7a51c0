// Runs alone: names of models depend on those of other classes.
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { arrayProp, create, FrameworkModel, prop, type Ref, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";

class Label extends FrameworkModel {
  @prop({ unique: true })
  text?: string;
}

class Sheet extends FrameworkModel {
  @prop({ ref: () => Label })
  label?: Ref<Label>;
}

const persist = (_req: unknown, entity: object) => ({ ...entity, _id: "1" });

@rest({
  route: "/folders",
  methods: [create({ fetch: () => ({}), persist }) as never],
  getConnection: () => Promise.reject(new Error("Nobody needs it")),
})
class Folder extends FrameworkModel {
  @prop({ required: true, index: true })
  name!: string;
  @arrayProp({ items: () => Label })
  labels?: Ref<Label>[];
  @arrayProp({ items: Sheet, embedded: true })
  sheets?: Sheet[];
}

/** Waits until all models that the default connection knows have made their collections and indexes. */
async function collectionsOf(connection: mongoose.Connection): Promise<string[]> {
  await Promise.all(Object.values(connection.models).map((model) => model.init()));
  await connection.createCollections();
  return (await connection.listCollections()).map(({ name }) => name);
}

test("create() of an entity of another database validates it, and leaves the default one empty", async () => {
  await using app = await mount([Folder]);
  const before = mongoose.connections.length;
  const body = { name: "a", labels: ["65a1b2c3d4e5f60718293a4b"] };
  const created = await app.post("/folders", body);
  const refused = await app.post<ErrorBody>("/folders", {});
  assertEquals([created.status, refused.status], [201, 400]);
  assertEquals(refused.body.errors?.name?.kind, "required");
  assertEquals(await collectionsOf(mongoose.connection), []);
  assertEquals([mongoose.connection.modelNames(), mongoose.connections.length], [[], before]);
});
