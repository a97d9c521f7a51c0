import { assertEquals, assertMatch } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { Schema } from "mongoose";
import { all, arrayProp, Framework, FrameworkModel, one, prop, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";

class Part extends FrameworkModel {
  @prop()
  label?: string;
}

function declare() {
  @rest({
    route: "/things",
    methods: [one(), all<Thing>({ sort: ["_id", "name", "rank", "code", "year"] })],
  })
  @rest({
    route: "/mine",
    scope: () => ({ owner: "me" }),
    methods: [all<Thing>({ sort: ["rank", "shelf"] })],
  })
  class Thing extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.index({ name: 1, rank: 1 });
      schema.index({ owner: 1, shelf: 1 });
    }
    @prop()
    name?: string;
    @prop({ type: Number })
    rank?: number;
    @prop({ unique: true, sparse: true })
    code?: string;
    @prop({ type: Number, index: true })
    year?: number;
    @prop()
    owner?: string;
    @prop()
    shelf?: string;
    @rest({ methods: [all<Part>({ sort: ["label"] })] })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
  }
  return Thing;
}

test("a field of sort that leads no index is logged once, with the index to declare", () => {
  const Thing = declare();
  using log = stub(console, "warn");
  for (let starts = 0; starts < 2; starts++) Framework.initialize({ models: [Thing] });
  const lines = log.calls.map(({ args }) => String(args[0]));
  assertEquals(lines.length, 1, lines.join("\n"));
  assertMatch(
    lines[0] ?? "",
    /"Thing" begins with "rank".*schema\.index\({ "rank": 1, "_id": 1 }\)/,
  );
});
