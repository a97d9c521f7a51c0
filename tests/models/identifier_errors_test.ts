import { assertThrows } from "@std/assert";
import type { Schema, SchemaDefinition } from "mongoose";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  define,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";

const { Buffer: Bytes, Decimal128, BigInt: Long, Mixed, Double } = mongoose.Schema.Types;

/** The types of `_id` that fail the start, and how the error names them. */
const REFUSED: readonly (readonly [type: unknown, named: string])[] = [
  [Date, "Date"],
  [Boolean, "Boolean"],
  [Bytes, "Buffer"],
  [Decimal128, "Decimal128"],
  [Long, "BigInt"],
  [Double, "Double"],
  [Mixed, "Mixed"],
  [[String], "Array"],
  [new mongoose.Schema({ a: String, b: String }, { _id: false }), "Embedded"],
];

const CURE = "declare it as String, Number or UUID, or leave it out for an ObjectId";

/** Mounts a class whose `_id` is as `configure()` declares it. */
function mountAs(_id: unknown): void {
  @rest({ route: "/things", methods: [all(), one(), create()] })
  class Thing extends FrameworkModel {
    @prop()
    name?: string;
    static override configure(schema: Schema): void {
      schema.add({ _id } as SchemaDefinition);
    }
  }
  Framework.initialize({ models: [Thing] });
}

test("an _id that no path can name fails the start, with the class and the cure", () => {
  for (const [type, named] of REFUSED) {
    const problem = `Cannot mount "Thing": its "_id" is of the type ${named}: ${CURE}`;
    assertThrows(() => mountAs(type), TypeError, problem);
  }
  for (const _id of [{ type: String, hidden: true }, { type: Number, select: false }]) {
    assertThrows(() => mountAs(_id), TypeError, `Cannot mount "Thing": its "_id" is`);
  }
});

test("an _id that define() or schemaOptions declares is judged too", () => {
  class Defined extends FrameworkModel {
    name?: string;
  }
  const options = { fields: { _id: { type: Date } }, rest: { route: "/d", methods: [all()] } };
  define(Defined, options as never);
  const init = (model: typeof Defined) => () => Framework.initialize({ models: [model] });
  const problem = `Cannot mount "Defined": its "_id" is of the type Date: ${CURE}`;
  assertThrows(init(Defined), TypeError, problem);
  @rest({ route: "/bare", methods: [all()], schemaOptions: { _id: false } })
  class Bare extends FrameworkModel {}
  assertThrows(init(Bare), TypeError, `Cannot mount "Bare": it has no "_id": ${CURE}`);
});

class Dated extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: Date } as SchemaDefinition);
  }
}

class Named extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: String } as SchemaDefinition);
  }
}

@rest({ route: "/shelves", methods: [one()] })
class Shelf extends FrameworkModel {
  @prop({ ref: Dated })
  dated?: Ref<Dated>;
}

@rest({ route: "/racks", methods: [one()] })
class Rack extends FrameworkModel {
  @rest({ methods: [all()] })
  @arrayProp({ items: Named })
  named?: Ref<Named>[];
}

@rest({ route: "/boxes", methods: [one()] })
class Box extends FrameworkModel {
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Named, embedded: true })
  parts?: Named[];
}

/** A class whose references to itself are built before `configure()` declares its `_id`. */
@rest({ route: "/folders", methods: [one()] })
class Folder extends Named {
  @arrayProp({ items: () => Folder })
  folders?: Ref<Folder>[];
}

test("the _id of references is judged where they have routes, and that of elements stays an ObjectId", () => {
  const wrong = [
    [Shelf, `reference "dated" is an ObjectId, and the "_id" of "Dated" is no ObjectId but Date`],
    [Rack, `Cannot mount "Named": nothing gives the "_id" of new entities`],
    [Box, `property "parts" holds entities whose _id is no ObjectId but String`],
    [Folder, `"folders" is an ObjectId, and the "_id" of "Folder" is no ObjectId but String`],
  ] as const;
  for (const [model, problem] of wrong) {
    assertThrows(() => Framework.initialize({ models: [model] }), TypeError, problem);
  }
  // Without routes, an entity may have any _id
  getModel(Dated);
});
