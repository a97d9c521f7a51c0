import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { assertEquals } from "@std/assert";
import { LateText } from "./late_text.ts";
import type { StoredWriter } from "./stored_writer.ts";

const stored = Buffer.from(
  mongoose.mongo.BSON.serialize({ _id: new mongoose.Types.ObjectId(), n: 1 }),
);

/** A writer that counts what it writes, as Mongoose does it or not. */
function makeWriter(name: string, usesMongoose: boolean) {
  const writer = {
    name,
    hydrated: 0,
    written: 0,
    joined: () => {
      writer.written++;
      if (usesMongoose) writer.hydrated++;
      return Buffer.from("{}");
    },
  };
  return writer;
}

Deno.test("LateText knows the tag of a text that was kept, without writing it again", () => {
  const writer = makeWriter("a", false);
  const open = () => new LateText(writer as unknown as StoredWriter, Buffer.from(stored));
  const first = open();
  assertEquals(first.tag, undefined);
  first.write();
  first.keep("tag");
  assertEquals([open().tag, writer.written], ["tag", 1]);
  assertEquals(new LateText(makeWriter("b", false) as never, stored).tag, undefined);
  const changed = Buffer.from(stored);
  changed.writeUInt8(1, changed.length - 2);
  assertEquals(new LateText(writer as unknown as StoredWriter, changed).tag, undefined);
});

Deno.test("LateText does not keep what Mongoose has written", () => {
  const writer = makeWriter("c", true);
  const open = () => new LateText(writer as unknown as StoredWriter, stored);
  const first = open();
  first.write();
  first.keep("tag");
  assertEquals(open().tag, undefined);
});
