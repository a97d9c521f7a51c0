import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { RestError } from "../../errors/rest_error.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { FREE, resolvePath } from "./resolve_path.ts";

class PathPart extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: () => PathPart })
  inner?: PathPart;
}

class PathThing extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: PathPart, hidden: true })
  vault?: PathPart;
  @prop({ select: false })
  unread?: string;
  @prop({ type: PathPart })
  part?: PathPart;
  @arrayProp({ items: PathPart, embedded: true })
  parts?: PathPart[];
  @arrayProp({ items: () => PathThing })
  others?: string[];
  @arrayProp({ items: Number })
  numbers?: number[];
  @prop({ type: Map, of: PathPart })
  map?: Map<string, unknown>;
  @prop({ type: Object })
  free?: object;
}

const shape = describeShape(buildSchema(PathThing).schema);

Deno.test("resolvePath() finds the field when the path is declared", async (t) => {
  const cases: [string, string, string | undefined][] = [
    ["name", "scalar", "String"],
    ["_id", "scalar", "ObjectId"],
    ["part", "object", "Embedded"],
    ["part.label", "scalar", "String"],
    ["part.inner.inner.label", "scalar", "String"],
    ["parts", "array", "Array"],
    ["parts.label", "scalar", "String"],
    ["parts.0.label", "scalar", "String"],
    ["parts.12.inner.label", "scalar", "String"],
    ["others", "array", "Array"],
    ["others.3", "scalar", "ObjectId"],
    ["numbers.0", "scalar", "Number"],
    ["map.any key.label", "scalar", "String"],
    ["free", "free", "Mixed"],
  ];
  for (const [path, kind, instance] of cases) {
    await t.step(path, () => {
      const field = resolvePath(path, shape);
      assertEquals([field.kind, field.type?.instance], [kind, instance]);
    });
  }
});

Deno.test("resolvePath() takes any path when it leads into what is free-form", () => {
  assertEquals(resolvePath("free.a.0.b", shape).kind, "free");
  assertStrictEquals(resolvePath("a.b", undefined), FREE);
});

const REFUSED: readonly string[] = [
  "unknown",
  "Name",
  "name ",
  "name.length",
  "name.0",
  "secret",
  "secret.x",
  "secret.0",
  "unread",
  "vault",
  "vault.label",
  "part.secret",
  "part.unknown",
  "part.0.label",
  "part.inner.secret",
  "part.inner.inner.inner.secret.x",
  "parts.secret",
  "parts.0.secret",
  "parts.0.secret.x",
  "parts.00.label",
  "parts.-1.label",
  "parts.0.0.label",
  "others.name",
  "others.0.name",
  "numbers.x",
  "map.key.secret",
  "map.secret.secret",
  "",
  ".",
  "name.",
  ".name",
  "part..label",
  "$where",
  "part.$label",
  "free.$where",
  "free.a.$expr",
  "free.",
  "free.__proto__.x",
  "free.constructor",
  "free.a.prototype",
  "free.a\0b",
  "free._bsontype",
  "map.__proto__",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "parts.length",
];

Deno.test("resolvePath() answers 400 and names the path when a client may not use it", async (t) => {
  for (const path of REFUSED) {
    await t.step(JSON.stringify(path), () => {
      const error = assertThrows(() => resolvePath(path, shape), RestError);
      assertEquals(error.status, 400);
      assertEquals(error.body, {
        code: "BAD_FORMAT",
        message: `Field "${path}" is unknown`,
        field: path,
      });
    });
  }
});
