import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { Schema } from "mongoose";
import { all, create, Framework, FrameworkModel, one, prop, rest } from "../../mod.ts";

@rest({ route: "/pages", methods: [all(), one(), create()], trash: true })
class Page extends FrameworkModel {
  @prop({ unique: true })
  slug?: string;
  @prop({ unique: [true, "Taken"] })
  alias?: string;
  @prop({ unique: true, required: true })
  title!: string;
  @prop({ unique: true, sparse: true })
  code?: string;
  @prop({ unique: true, default: () => crypto.randomUUID() })
  token!: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ type: Number })
  year?: number;
  static override configure(schema: Schema): void {
    schema.index({ rank: 1 }, { unique: true, partialFilterExpression: { rank: { $gt: 0 } } });
    schema.index({ year: 1 }, { unique: true });
    schema.index({ year: 1, rank: 1 }, { unique: true });
  }
}

Deno.test("a unique field that may be missing is logged once, with its cure", () => {
  using log = stub(console, "warn");
  for (let starts = 0; starts < 2; starts++) Framework.initialize({ models: [Page] });
  const rule = "is unique and may be missing, so that only one entity can be stored without it: " +
    "add sparse: true, or required: true";
  assertEquals(
    log.calls.map(({ args }) => String(args[0])),
    ["slug", "alias", "year"].map((name) => `"${name}" of "Page" ${rule}`),
  );
});
