import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  define,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  type Ref,
  replace,
  rest,
} from "../../mod.ts";
import type { Identifier } from "../../src/declare/decorators/field_type.ts";
import { at, declareId, type Id, ID_KINDS, type Kind } from "../fixtures/id_kinds.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

const methods = [all(), one(), create(), replace()];

const TYPES = { String, Number, UUID: mongoose.Types.UUID };

/** Declares a class that refers to itself, and to a class that refers back. */
function defined(type: StringConstructor | NumberConstructor | typeof mongoose.Types.UUID) {
  class Folder extends FrameworkModel {
    above?: Ref<Folder>;
    inner?: Ref<Folder>[];
    file?: Ref<Leaf>;
  }
  class Leaf extends FrameworkModel {
    folder?: Ref<Folder>;
  }
  define(Folder, {
    fields: {
      above: { ref: () => Folder },
      inner: { items: () => Folder },
      file: { ref: () => Leaf },
      _id: { type },
    },
    rest: { route: "/folders", methods },
  });
  define(Leaf, {
    fields: { folder: { ref: () => Folder }, _id: { type } },
    rest: { route: "/leaves", methods },
  });
  return [Folder, Leaf] as const;
}

/** Declares the same classes by decorators, whose references have a type. */
function decorated(type: typeof TYPES.UUID, declared: Kind["type"]) {
  @rest({ route: "/folders", methods })
  class Folder extends FrameworkModel {
    @prop({ type, ref: () => Folder } as never)
    above?: Identifier;
    @arrayProp({ items: type, ref: () => Folder } as never)
    inner?: Identifier[];
    @prop({ type, ref: () => Leaf } as never)
    file?: Identifier;
    static override configure(schema: Schema): void {
      declareId(schema, declared);
    }
  }
  @rest({ route: "/leaves", methods })
  class Leaf extends FrameworkModel {
    @prop({ type, ref: () => Folder } as never)
    folder?: Identifier;
    static override configure(schema: Schema): void {
      declareId(schema, declared);
    }
  }
  return [Folder, Leaf] as const;
}

async function check(
  models: readonly [ModelClass, ModelClass],
  [first, second, third]: readonly Id[],
) {
  await using app = await mount(models);
  await app.created("/folders", { _id: first });
  const sent = { _id: second, above: first, inner: [first, second], file: third };
  const made = await app.post<EntityBody>("/folders", sent);
  assertEquals([made.status, made.body], [201, { ...sent, __v: 0 }] as never, made.text);
  assertEquals(await app.read(at("/folders", second)), { ...sent, __v: 0 } as never);
  await app.created("/leaves", { _id: third, folder: second });
  const stored = await getModel(models[1]).collection.findOne();
  assertEquals(typeof stored?._id, typeof stored?.folder);
  assertEquals((await app.post("/folders", {})).status, 400);
}

for (const [name, type] of Object.entries(TYPES)) {
  const { ids, type: declared } = ID_KINDS[name] as Kind;
  test(`fields of define() declare an _id of the type ${name}, also for circular references`, () =>
    check(defined(type), ids));
  test(`circular references to an _id of the type ${name} can have a type`, () =>
    check(decorated(type as never, declared), ids));
}
