import mongoose from "mongoose";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { action, type Entity, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, mount } from "../../support/support.ts";

const find = async () => await getModel(Pet).findOne({ name: "b" }) as Entity<Pet>;

@rest({
  route: "/pets",
  methods: [
    action("other", { on: "one", run: find }),
    action("changed", {
      on: "one",
      async run() {
        return Object.assign(await find(), { seen: "lost" });
      },
    }),
  ],
})
class Pet extends FrameworkModel {
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    const own = { seen: String, chip: { type: String, hidden: true } };
    const kind = new mongoose.Schema(own as never);
    schema.discriminator(`Dog${crypto.randomUUID()}`, kind as never, { value: "Dog" });
  }
}

test("an action answers another entity that is of a kind, if its changes are saved", async () => {
  const told: unknown[] = [];
  await using app = await mount([Pet], { onError: (_req, error) => void told.push(error) });
  const { collection } = getModel(Pet);
  const pet = { __t: "Dog", name: "a", seen: "s", chip: "SECRET" };
  const { insertedId } = await collection.insertOne({ ...pet } as never);
  await collection.insertOne({ ...pet, name: "b" } as never);
  const path = `/pets/${insertedId}`;
  const { status, body, text } = await app.post<EntityBody>(`${path}/other`, undefined);
  assertEquals([status, body.name, text.includes("SECRET")], [200, "b", false], text);
  assertEquals((await app.post(`${path}/changed`, undefined)).status, 500);
  assertStringIncludes(String(told), 'with changes that were not saved: "seen"');
});
