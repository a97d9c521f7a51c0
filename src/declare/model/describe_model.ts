import { isDeepStrictEqual } from "node:util";
import type { SchemaOptions } from "mongoose";
import { FrameworkModel, type ModelClass } from "./framework_model.ts";
import { type FieldRecord, ownRecords, type RestRecord } from "./records.ts";

/** The declarations of a class and its ancestors. */
export interface ModelDescription {
  readonly target: ModelClass;
  /** The fields, inherited ones first. */
  readonly fields: ReadonlyMap<string, FieldRecord>;
  /** The `@rest` on properties, inherited ones included. */
  readonly parts: ReadonlyMap<string, readonly RestRecord[]>;
  /** The `@rest` on the class itself. */
  readonly rests: readonly RestRecord[];
  readonly schemaOptions: SchemaOptions;
}

/** Describes a model class by the records of the class and its ancestors. A `TypeError` names what is wrong on it. */
export function describeModel(target: ModelClass): ModelDescription {
  const fields = new Map<string, FieldRecord>();
  const parts = new Map<string, readonly RestRecord[]>();
  for (const owner of chainOf(target)) {
    const records = ownRecords(owner);
    const problem = records?.problems[0];
    if (problem !== undefined) throw new TypeError(`Cannot describe "${target.name}": ${problem}`);
    for (const [name, field] of records?.fields ?? []) fields.set(name, field);
    for (const [name, rests] of records?.parts ?? []) parts.set(name, rests);
  }
  const rests = ownRecords(target)?.rests ?? [];
  return { target, fields, parts, rests, schemaOptions: schemaOptionsOf(target, rests) };
}

/** Gives the ancestors of a class below `FrameworkModel`, and the class itself as the last one. */
export function chainOf(target: ModelClass): ModelClass[] {
  const chain: ModelClass[] = [];
  let current: object | null = target;
  while (current !== null && current !== FrameworkModel && current !== Function.prototype) {
    chain.unshift(current as ModelClass);
    current = Object.getPrototypeOf(current);
  }
  if (current !== FrameworkModel) {
    throw new TypeError(`Cannot describe "${target.name}": it does not extend FrameworkModel`);
  }
  return chain;
}

/** Gives the `@rest` that bind what refers to a class: the main one, or all where none has a scope; else it throws. */
export function bindingRests(target: ModelClass): readonly RestRecord[] {
  const { rests } = describeModel(target);
  const main = rests.filter((rest) => rest.main);
  if (main.length > 0) return main;
  if (rests.length < 2 || rests.every(({ scope }) => scope === undefined)) return rests;
  throw new TypeError(
    `Cannot refer to "${target.name}": it has several @rest, and not all without a scope; ` +
      `set main: true on the one whose scope and one() bind what refers to the class`,
  );
}

export function scopesOf(target: ModelClass): NonNullable<RestRecord["scope"]>[] {
  return bindingRests(target).flatMap(({ scope }) => scope ?? []);
}

function schemaOptionsOf(target: ModelClass, rests: readonly RestRecord[]): SchemaOptions {
  const [first, ...others] = rests.flatMap((rest) => rest.schemaOptions ?? []);
  if (others.some((other) => !isDeepStrictEqual(first, other))) {
    throw new TypeError(
      `Cannot describe "${target.name}": its @rest decorators have different schemaOptions`,
    );
  }
  const { schemaOptions = {} } = target as typeof FrameworkModel;
  const { collection: _inherited, ...inherited } = schemaOptions;
  // A subclass is a model of its own: it does not share the collection that its parent names.
  return { ...Object.hasOwn(target, "schemaOptions") ? schemaOptions : inherited, ...first };
}
