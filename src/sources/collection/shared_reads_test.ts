import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { openDatabase } from "../../../tests/harness/database.ts";
import { test } from "../../../tests/harness/testing.ts";
import { withoutReplies } from "../../../tests/support/decoding_driver.ts";
import { prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { BsonReads } from "./bson_reads.ts";
import { SharedReads } from "./shared_reads.ts";

class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  count?: number;
  @prop({ hidden: true })
  secret?: string;
}

test("SharedReads.find() gives the same from decoded documents", async () => {
  await using _database = await openDatabase();
  const model = getModel(Note);
  const ids = Array.from({ length: 6 }, () => new mongoose.Types.ObjectId());
  const notes = ids.map((_id, count) => ({ _id, text: `t${count}`, count, secret: "s", __v: 0 }));
  const odd = { _id: new mongoose.Types.ObjectId(), text: 5, count: "odd" };
  await model.collection.insertMany([...notes, odd] as never[]);
  const asked = [...ids, odd._id, ...ids.slice(0, 1)];
  const shape = describeShape(buildSchema(Note).schema);
  const query = { conditions: {}, projection: {}, options: { comment: 5n } };
  const read = (from: typeof model) => {
    const reader = new BsonReads({ model: from as never, shape });
    const reads = new SharedReads(reader);
    return Promise.all(asked.map(async (id) => {
      const stored = await reads.find(id, query);
      return stored && JSON.parse(reader.writerFor(query).concat([stored]).toString());
    }));
  };
  const reply = await read(model);
  assertEquals(reply.map(({ _id }) => _id), asked.map(String));
  assertEquals(await read(withoutReplies(model)), reply);
});
