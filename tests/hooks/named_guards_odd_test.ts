import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  FrameworkModel,
  type FrameworkRequest,
  onlyIf,
  prop,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { bsonOf, insertRaw, textOf } from "../support/made/raw_bson.ts";
import { mount } from "../support/support.ts";

const known = onlyIf(
  ["at", "name"],
  (_req: FrameworkRequest, odd: Pick<Odd, "at" | "name">) => Object.isFrozen(odd),
);

@rest({
  route: "/odd",
  methods: [update({ postFetch: known }), remove({ postFetch: known })],
  schemaOptions: { collection: "odd" },
})
class Odd extends FrameworkModel {
  @prop({ type: Date })
  at?: Date;
  @prop()
  name?: string;
  @prop()
  text?: string;
}

test("a guard with names answers as one without them for values that JavaScript cannot represent", async (t) => {
  await using app = await mount([Odd]);
  const far = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0x70]);
  const malformed = textOf(Buffer.from([0xff, 0x61]));
  // Documents refuse a date that they cannot cast, as they do with a hook that names nothing.
  const values = [["date", 0x09, "at", far, 400], ["text", 0x02, "name", malformed, 200]] as const;
  for (const [title, type, name, bytes, expected] of values) {
    await t.step(title, async () => {
      const _id = new mongoose.mongo.ObjectId();
      const odd = bsonOf([
        [0x07, "_id", _id.id as Uint8Array],
        [type, name, bytes],
        [0x10, "__v", Buffer.alloc(4)],
      ]);
      await insertRaw(app.database.uri, { collection: "odd", documents: [odd] });
      const { status, text } = await app.patch(`/odd/${_id}`, { text: "t" });
      assertEquals(status, expected, text);
      assertEquals((await app.delete(`/odd/${_id}`)).status, 204);
    });
  }
});
