import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

/** The fields of a kind: values inside of other values. */
const OWN = {
  sub: new mongoose.Schema({ n: Number }),
  nest: { n: Number },
  map: { type: Map, of: Number },
  bytes: Buffer,
};

class Part extends FrameworkModel {
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    schema.discriminator("Gear", new mongoose.Schema(OWN as never));
  }
}

@rest({ route: "/hooked", methods: [all({ postFetch: pass }), one()] })
@rest({ route: "/pets", methods: [all(), one(), update({ preSave: pass })] })
class Pet extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: Part })
  held?: Part;
  @arrayProp({ items: Part, embedded: true })
  @rest({ methods: [all(), one()] })
  parts!: Part[];
}

test("a stored object with the keys of members is left out of embedded kinds", async () => {
  await using app = await mount([Pet]);
  const { collection } = getModel(Pet);
  for (const value of [{ toString: "x" }, { isMongooseBuffer: true }]) {
    await collection.deleteMany({});
    const wrong = { sub: { n: value }, nest: { n: value }, map: { k: value }, bytes: value };
    const part = { _id: new mongoose.Types.ObjectId(), __t: "Gear", name: "p", ...wrong };
    const stored = { name: "a", bytes: value, held: part, parts: [part] };
    const { insertedId } = await collection.insertOne({ ...stored } as never);
    const path = `/pets/${insertedId}`;
    for (const each of ["/pets", "/hooked", path, `${path}/parts`, `${path}/parts/${part._id}`]) {
      const { status, text } = await app.get(each);
      assertEquals(
        [status, text.includes('"n":'), text.includes('"k":')],
        [200, false, false],
        text,
      );
    }
    const written = await app.patch<EntityBody>(path, { name: "b" });
    assertEquals([written.status, written.body.name], [200, "b"], written.text);
    const { __v: _version, ...kept } = Object(await collection.findOne());
    assertEquals(kept, { ...stored, _id: insertedId, name: "b" });
  }
});
