import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Schema, Types } from "mongoose";
import { all, arrayProp, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import { documentOf, mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";
import { asQuery } from "../support/support.ts";

class Part extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Map, of: String })
  "né-à"?: Map<string, string>;
}

@rest({ route: "/odds", methods: [all(), one(), create(), update()] })
class Odd extends FrameworkModel {
  @prop({ type: Map, of: Number })
  "first-name"?: Map<string, number>;
  @prop({ type: Map, of: Part })
  größe?: Map<string, Part>;
  @prop({ type: Object })
  "a+b(c)[d]|e/f"?: object;
  @arrayProp({ items: Part, embedded: true })
  "🦆 s"?: Part[];
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
  @prop({ type: Schema.Types.Int32 })
  int?: number;
  @prop({ type: Schema.Types.Double })
  double?: number;
  @prop({ type: Date })
  day?: Date;
  @prop({ match: /^[\w-]+$/ })
  word?: string;
}

test("all schemas of a document are valid, whatever the names of fields are", async () => {
  const { schemas, named, document, validator } = await documentOf([Odd]);
  for (const name of Object.keys(schemas)) named(name);
  for (const { parameters = [] } of Object.values(document.paths["/odds"] ?? {})) {
    for (const { schema } of parameters) if (schema !== undefined) validator(schema);
  }
});

test("filters may name what is below fields with signs in their names", async () => {
  await using app = await mountDocumented([Odd]);
  const isValid = app.named("OddFilter");
  const paths = [
    ...["first-name.a", "firstXname.a", "größe.a.text", "größe", "grsse.a", "a+b(c)[d]|e/f.a"],
    ...["aab(c)[d]|e/f.a", "🦆 s.text", "🦆 s.né-à.b", "🦆 s.né-à.b.c"],
  ];
  const judged = await Promise.all(paths.map(async (path) => {
    const { status } = await app.get(`/odds${asQuery({ [path]: null })}`);
    return [path, isValid({ [path]: null }), status === 200];
  }));
  assertEquals(judged.filter(([, told, done]) => told !== done), []);
  assertEquals(judged.filter(([, told]) => told).length, 6);
});

@rest({ route: "/any", methods: [all(), create()] })
class AnyJson extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Object })
  free?: object;
}

test("a class can have the name of the schema of free-form data", async () => {
  const { named } = await documentOf([AnyJson]);
  const isNew = named("AnyJsonNew");
  const bodies = [{ free: { a: [1, { b: null }] } }, { free: { a: { "b.c": 1 } } }];
  assertEquals(bodies.map((body) => isNew({ name: "a", ...body })), [true, false]);
});
