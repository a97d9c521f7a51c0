import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { all, arrayProp, create, Framework, FrameworkModel, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** Mounts a class with options as JavaScript can give them. */
function mountWith({ one = {}, many = { items: String } }: { one?: object; many?: object }) {
  @rest({ route: "/things", methods: [all()] })
  class Thing extends FrameworkModel {
    @prop(one)
    name?: string;
    @arrayProp(many as never)
    tags?: string[];
  }
  return Framework.initialize({ models: [Thing] });
}

for (
  const [given, decorator, property, option] of [
    [{ one: { requierd: true } }, "prop", "name", "requierd"],
    [{ one: { hiden: true } }, "prop", "name", "hiden"],
    [{ one: { Hidden: true } }, "prop", "name", "Hidden"],
    [{ one: { readOnly: undefined } }, "prop", "name", "readOnly"],
    [{ one: { items: String } }, "prop", "name", "items"],
    [{ one: { toString: 1 } }, "prop", "name", "toString"],
    [{ one: { constructor: 1 } }, "prop", "name", "constructor"],
    [{ many: { items: String, embeded: true } }, "arrayProp", "tags", "embeded"],
    [{ many: { items: String, type: Number } }, "arrayProp", "tags", "type"],
  ] as const
) {
  Deno.test(`initialize() refuses the option "${option}" of @${decorator}`, () => {
    assertThrows(
      () => mountWith(given),
      TypeError,
      `Cannot build the schema of "Thing": @${decorator} of property "${property}" has no option "${option}"`,
    );
  });
}

Deno.test("initialize() refuses an unknown option in an embedded model, and names that class", () => {
  class Part extends FrameworkModel {
    @prop({ hiden: true } as object)
    secret?: string;
  }
  @rest({ route: "/wholes", methods: [all()] })
  class Whole extends FrameworkModel {
    @prop({ type: Part })
    part?: Part;
  }
  assertThrows(
    () => Framework.initialize({ models: [Whole] }),
    TypeError,
    `Cannot build the schema of "Part": @prop of property "secret" has no option "hiden"`,
  );
});

Deno.test("initialize() refuses a property that embeds a class and refers to one", () => {
  class Other extends FrameworkModel {}
  class Part extends FrameworkModel {}
  for (
    const given of [
      { one: { type: Part, ref: Part } },
      { one: { type: Part, ref: () => Other } },
      { many: { items: Part, embedded: true, ref: Part } },
      { many: { items: Part, ref: Other } },
    ]
  ) assertThrows(() => mountWith(given), TypeError, `names a model class and refers by "ref"`);
  mountWith({ many: { items: Part, ref: Part } });
});

Deno.test("initialize() takes the options of Mongoose that the types do not list", () => {
  mountWith({ one: { type: String, minlength: 1, maxlength: 3, text: true, cast: "Not {VALUE}" } });
  mountWith({ one: { type: Object, _id: false, excludeIndexes: true } });
  mountWith({ one: { type: mongoose.Types.ObjectId, refPath: "kind", auto: true } });
  mountWith({ many: { items: String, castNonArrays: false, of: String, ref: "Other" } });
});

Deno.test("initialize() leaves the options of a type that is not Mongoose's to the type", () => {
  class Money extends mongoose.SchemaType {
    static schemaName = "Money";
  }
  Object.assign(mongoose.Schema.Types, { Money });
  mountWith({ one: { type: Money, currency: "EUR" } });
});

/** A plugin that has fields start with what their option says. */
function starts(schema: Schema): void {
  schema.eachPath((_path, type) => {
    const { startsAs } = type.options as { startsAs?: string };
    if (startsAs !== undefined) type.default(startsAs);
  });
}

@rest({ route: "/started", methods: [create()] })
class Started extends FrameworkModel {
  @prop()
  name?: string;
  static override configure(schema: Schema) {
    Object.assign(schema.path("name").options, { startsAs: "new" });
    schema.plugin(starts);
  }
}

test("a plugin reads the options that configure() gives to fields", async () => {
  await using app = await mount([Started]);
  const { name } = await app.created("/started", {});
  assertEquals(name, "new");
});
