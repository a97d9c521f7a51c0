import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, FrameworkModel, getModel, prop, rest, update } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { mountLive, openLive } from "./live.ts";

const BYTES = 15_000_000;

@rest({ route: "/scans", methods: [all({ live: true, select: ["title"] }), update()] })
class Scan extends FrameworkModel {
  static override schemaOptions = {
    collectionOptions: { changeStreamPreAndPostImages: { enabled: true } },
  };
  @prop({ required: true })
  title!: string;
  @prop()
  bytes?: string;
}

test("a live list goes on after changes whose events have more than 16 MB", async () => {
  await using app = await mountLive([Scan]);
  const { collection } = getModel(Scan);
  await getModel(Scan).init();
  const own = new mongoose.Types.ObjectId();
  await collection.insertOne({ _id: own, title: "a", bytes: "x".repeat(BYTES) } as object);
  await using list = await openLive(
    `${app.url}/scans${asQuery({ title: { $ne: "d" } })}&select=title`,
  );
  await list.ready();
  const titles = () => list.items.map(({ title }) => title);
  const change = (set: object) => collection.updateOne({ _id: own } as object, { $set: set });
  await change({ title: "b", bytes: "y".repeat(BYTES) });
  await until(() => titles().join() === "b");
  await collection.replaceOne({ _id: own } as object, { title: "c", bytes: "z".repeat(BYTES) });
  await until(() => titles().join() === "c");
  // The event of an identifier of this size cannot be read at all.
  await collection.insertOne({ _id: "x".repeat(8_000_000), title: "d" } as object);
  await change({ title: "e" });
  await until(() => titles().join() === "e");
  assertEquals(list.hasEnded, false);
});
