import { assertEquals, assertThrows } from "@std/assert";
import type { Schema } from "mongoose";
import { Framework, FrameworkModel, one, prop, replace, rest } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";

/** Calls an operation with options that the compiler would refuse. */
const made = (options: object) => (replace as unknown as (given: object) => never)(options);

function addIndexes(schema: Schema): void {
  schema.index({ name: 1 }, { unique: true, collation: { locale: "en", strength: 2 } });
  const partial = (filter: object) => ({ unique: true, partialFilterExpression: filter });
  schema.index({ partial: 1 }, partial({ partial: { $exists: true } }));
  schema.index({ typed: 1 }, partial({ typed: { $type: "string" } }));
  schema.index({ both: 1, other: 1 }, { unique: true });
  schema.index({ indexed: 1 });
  schema.index({ backwards: -1 }, { unique: true });
}

function declare(options: object, more: object = {}) {
  @rest({ route: "/things", methods: [one(), made(options)], ...more })
  class Thing extends FrameworkModel {
    static override configure = addIndexes;
    @prop({ unique: true })
    slug?: string;
    @prop({ unique: true, hidden: () => false })
    guarded?: string;
    @prop({ unique: true, readonly: true })
    fixed?: string;
    @prop({ unique: true, readonly: () => false })
    reserved?: string;
    @prop({ unique: true, select: false })
    unselected?: string;
    @prop({ unique: true, sparse: true })
    sparse?: string;
    @prop({ unique: true, type: Object })
    free?: object;
    @prop()
    name?: string;
    @prop()
    partial?: string;
    @prop()
    typed?: string;
    @prop()
    both?: string;
    @prop()
    indexed?: string;
    @prop()
    backwards?: string;
  }
  return Thing;
}

const NO_INDEX = "has no unique index on that field alone";

test("replace() names entities by a field that every client sees and sets, with a unique index", () => {
  for (
    const [by, problem] of [
      ...["both", "indexed"].map((name) => [name, NO_INDEX] as const),
      ["name", 'has a unique index with a "collation", by which different keys may be equal'],
      ["typed", 'has a unique index whose "partialFilterExpression" may leave out a key'],
      ...[["guarded", "is hidden"], ["unselected", "is not selected"]] as const,
      ...[["fixed", "not every client can set"], ["reserved", "not every client can set"]] as const,
      ...[["free", "is no scalar"], ["__v", "not every client can set"]] as const,
      ...[["createdAt", "is no field"], ["slug.a", "is no field"]] as const,
    ] as const
  ) {
    assertThrows(
      () => Framework.initialize({ models: [declare({ by })] }),
      TypeError,
      `Cannot mount "Thing": replace() has "${by}" as "by", which ${problem}`,
    );
  }
  for (
    const by of ["_id", "slug", "backwards", "sparse", "partial", undefined]
  ) {
    Framework.initialize({ models: [declare({ by })] });
  }
  Framework.initialize({ models: [declare({})] });
});

test("replace() by _id needs identifiers that paths can name", () => {
  for (const [type, starts] of [[String, true], [Number, true], [Object, false]] as const) {
    @rest({ route: "/others", methods: [replace()] })
    class Other extends FrameworkModel {
      static override configure(schema: Schema) {
        schema.add({ _id: type } as never);
      }
    }
    const start = () => Framework.initialize({ models: [Other] });
    if (starts) start();
    else assertThrows(start, TypeError, "_id");
  }
});

test("ifMatch: required cannot bind a replacement that a hook writes", () => {
  const strict = { ifMatch: true };
  Framework.initialize({ models: [declare({}, strict)] });
  const error = assertThrows(
    () => Framework.initialize({ models: [declare({ persist: pass }, strict)] }),
    TypeError,
  );
  assertEquals(
    error.message,
    'Cannot mount "Thing": "ifMatch" cannot bind the "persist" of replace()',
  );
});
