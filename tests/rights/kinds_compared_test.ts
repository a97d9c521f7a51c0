import mongoose from "mongoose";
import { assert, assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";

const OWN = { chip: { type: String, hidden: true } };

class Part extends FrameworkModel {
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    schema.discriminator("Gear", new mongoose.Schema(OWN as never));
  }
}

@rest({ route: "/pets", methods: [all()] })
class Pet extends FrameworkModel {
  @prop({ type: Part })
  held?: Part;
  @arrayProp({ items: Part, embedded: true })
  parts!: Part[];
}

@rest({ route: "/searched", methods: [all({ search: { index: true } })] })
class Searched extends FrameworkModel {
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    schema.index({ "$**": "text" });
    schema.discriminator(`Dog${crypto.randomUUID()}`, new mongoose.Schema(OWN as never));
  }
}

test("an object whose kinds hide something is not compared as a whole", async () => {
  await using app = await mount([Pet]);
  const _id = new mongoose.Types.ObjectId();
  const part = { _id, __t: "Gear", name: "p" };
  const stored = { ...part, chip: "SECRET" };
  await getModel(Pet).collection.insertOne({ held: stored, parts: [stored] } as never);
  const asked = { ...part, _id: { $oid: String(_id) } };
  for (const path of ["held", "parts"]) {
    for (const condition of [asked, { $ne: asked }, { $gt: asked }, { $in: [asked] }]) {
      const { status, text } = await app.get(`/pets${asQuery({ [path]: condition })}`);
      assertEquals(status, 400, text);
    }
    assertEquals((await app.get(`/pets${asQuery({ [`${path}.name`]: "p" })}`)).status, 200);
  }
});

test("a text index of all fields is not searched where a kind hides one", async () => {
  const failure = await mount([Searched]).then(() => "started", (error) => String(error));
  assert(failure.includes('cannot search in a text index of "$**"'), failure);
});
