import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { findSupport } from "./model_support.ts";

const connection = mongoose.createConnection();
const QUIET = { autoIndex: false, autoCreate: false };

/** Whether a class that `configure` has changed is read without documents, alone and embedded in others. */
function supports(configure: (schema: Schema) => void, options: object = {}): boolean[] {
  class Inner extends FrameworkModel {
    static override schemaOptions = { ...QUIET, ...options };
    static override configure = configure;
    @prop()
    name?: string;
  }
  class Outer extends FrameworkModel {
    static override schemaOptions = QUIET;
    @prop({ type: Inner })
    one?: Inner;
  }
  class Listing extends FrameworkModel {
    static override schemaOptions = QUIET;
    @arrayProp({ items: Inner, embedded: true })
    many?: Inner[];
  }
  class Keeping extends FrameworkModel {
    static override schemaOptions = QUIET;
    @prop({ type: Map, of: Inner })
    named?: Map<string, unknown>;
  }
  return [Inner, Outer, Listing, Keeping].map((each) => reads(each));
}

function reads(target: ModelClass): boolean {
  const model = getModel(target, connection) as never as Model<unknown>;
  return findSupport(model, describeShape(model.schema as Schema)).reads !== undefined;
}

const NONE = [false, false, false, false];

Deno.test("findSupport() allows direct reads of a schema without anything of the user's own", () => {
  assertEquals(supports(() => {}), [true, true, true, true]);
  assertEquals(supports(() => {}, { timestamps: true, _id: false }), [true, true, true, true]);
});

Deno.test("findSupport() allows direct reads of what changes writes only", () => {
  const configure = (schema: Schema) => {
    schema.pre("save", () => {});
    schema.pre("validate", () => {});
    schema.post("save", () => {});
    schema.pre("deleteOne", () => {});
    schema.index({ name: 1 });
    schema.virtual("upper").get(() => "x");
    schema.path("name").get(() => "x");
    schema.set("toObject", { virtuals: true });
  };
  assertEquals(supports(configure), [true, true, true, true]);
});

Deno.test("findSupport() allows no direct reads when reads run middleware", () => {
  for (const name of ["find", "findOne", "init", "createModel", /^find/] as const) {
    assertEquals(supports((schema) => void schema.pre(name as "find", () => {})), NONE);
    assertEquals(supports((schema) => void schema.post(name as "find", () => {})), NONE);
  }
});

Deno.test("findSupport() allows no direct reads when JSON has options or a transform of the user's own", () => {
  const given = [
    { virtuals: true },
    { getters: true },
    { transform: () => ({}) },
    { minimize: true },
    { flattenMaps: false },
    { flattenObjectIds: true },
    { versionKey: false },
  ];
  for (const toJSON of given) {
    assertEquals(supports((schema) => void schema.set("toJSON", toJSON as never)), NONE);
    assertEquals(supports(() => {}, { toJSON }), NONE);
  }
  const same = { minimize: false, flattenMaps: true };
  assertEquals(supports((schema) => void schema.set("toJSON", same)), [true, true, true, true]);
});

Deno.test("findSupport() allows no direct reads when a class has a toJSON method", () => {
  class Inner extends FrameworkModel {
    static override schemaOptions = QUIET;
    @prop()
    name?: string;
    toJSON() {
      return { name: "x" };
    }
  }
  class Outer extends FrameworkModel {
    static override schemaOptions = QUIET;
    @prop({ type: Inner })
    one?: Inner;
  }
  assertEquals([reads(Inner), reads(Outer)], [false, false]);
});

Deno.test("findSupport() allows no direct reads when Mongoose's JSON has general options", () => {
  class Movie extends FrameworkModel {
    static override schemaOptions = QUIET;
    @prop()
    name?: string;
  }
  class Later extends Movie {}
  mongoose.set("toJSON", { virtuals: true });
  try {
    assertEquals(reads(Movie), false);
  } finally {
    mongoose.set("toJSON", {});
  }
  assertEquals(reads(Later), true);
});

Deno.test("findSupport() allows no direct reads when a plugin changes JSON or reads", () => {
  const json = (schema: Schema) => void schema.set("toJSON", { virtuals: true });
  assertEquals(supports((schema) => void schema.plugin(json)), NONE);
  const populating = (schema: Schema) => void schema.pre("find", () => {});
  assertEquals(supports((schema) => void schema.plugin(populating)), NONE);
});

Deno.test("findSupport() allows no direct reads when the schema keeps what is not declared", () => {
  assertEquals(supports(() => {}, { strict: false }), NONE);
  assertEquals(supports(() => {}, { strictRead: "throw" }), NONE);
  assertEquals(supports(() => {}, { strict: "throw" }), [true, true, true, true]);
});

Deno.test("findSupport() allows no direct reads when the schema says how to read", () => {
  const given = [
    { read: "secondary" },
    { readConcern: { level: "majority" } },
    { collation: { locale: "de" } },
  ];
  for (const options of given) assertEquals(supports(() => {}, options)[0], false);
});

Deno.test("findSupport() allows no direct reads when a path has a transform, or is made of dotted ones", () => {
  const paths = [
    { a: { type: String, transform: () => "x" } },
    { a: { b: String } },
    { a: [{ type: String, transform: () => "x" }] },
  ];
  for (const path of paths) {
    assertEquals(supports((schema) => void schema.add(path as never)), NONE);
  }
});

Deno.test("findSupport() allows no direct reads when all fields of a kind have a transform", () => {
  const { String: Text } = mongoose.Schema.Types as never as {
    String: { set(name: string, value: unknown): void; defaultOptions: { transform?: unknown } };
  };
  Text.set("transform", () => "x");
  try {
    assertEquals(supports(() => {}), NONE);
  } finally {
    delete Text.defaultOptions.transform;
  }
  assertEquals(supports(() => {}), [true, true, true, true]);
});

Deno.test("findSupport() allows direct reads of a class whose statics stay on the class", () => {
  class Movie extends FrameworkModel {
    static override schemaOptions = QUIET;
    static find() {
      return [];
    }
    @prop()
    name?: string;
  }
  assertEquals(reads(Movie as never), true);
});

Deno.test("findSupport() allows direct reads of a class that embeds itself", () => {
  class Node extends FrameworkModel {
    static override schemaOptions = QUIET;
    @arrayProp({ items: () => Node, embedded: true })
    children?: Node[];
  }
  assertEquals(reads(Node), true);
});
