import { isDeepStrictEqual } from "node:util";
import type { SchemaOptions } from "mongoose";
import { forAll } from "../../errors/for_all.ts";
import { checkCopy } from "./copies.ts";
import { FrameworkModel, type ModelClass } from "./framework_model.ts";
import { type FieldRecord, ownRecords, type RestRecord } from "./records.ts";

export interface ModelDescription {
  readonly target: ModelClass;
  /** A field of the class replaces an inherited field with the same name. */
  readonly fields: ReadonlyMap<string, FieldRecord>;
  /** The `@rest` decorators on properties, also on inherited properties. */
  readonly parts: ReadonlyMap<string, readonly RestRecord[]>;
  /** A class does not inherit the routes of its ancestors. */
  readonly rests: readonly RestRecord[];
  readonly schemaOptions: SchemaOptions;
}

const described = new WeakSet<ModelClass>();

/** Whether the declarations of a class have been read, so that a later `define()` would have no effect. */
export function isDescribed(target: ModelClass): boolean {
  return described.has(target);
}

export function describeModel(target: ModelClass): ModelDescription {
  const fields = new Map<string, FieldRecord>();
  const parts = new Map<string, readonly RestRecord[]>();
  for (const owner of chainOf(target)) {
    described.add(owner);
    const records = ownRecords(owner);
    forAll(records?.problems ?? [], (problem) => {
      throw new TypeError(`Cannot describe "${target.name}": ${problem}`);
    });
    for (const [name, field] of records?.fields ?? []) fields.set(name, field);
    for (const [name, rests] of records?.parts ?? []) parts.set(name, rests);
  }
  const rests = ownRecords(target)?.rests ?? [];
  return { target, fields, parts, rests, schemaOptions: schemaOptionsOf(target, rests) };
}

export function chainOf(target: ModelClass): ModelClass[] {
  const chain: ModelClass[] = [];
  let current: object | null = target;
  while (current !== null && current !== FrameworkModel && current !== Function.prototype) {
    chain.unshift(current as ModelClass);
    current = Object.getPrototypeOf(current);
  }
  if (current !== FrameworkModel) {
    checkCopy(target, `"${target.name}"`);
    throw new TypeError(`Cannot describe "${target.name}": it does not extend FrameworkModel`);
  }
  return chain;
}

/**
 * The `@rest` decorators that apply to references to a class: with `main: true`, else the only one, else all if none
 * has a scope. For any other class, it is not clear which scope applies, so this throws.
 */
export function bindingRests(target: ModelClass): readonly RestRecord[] {
  const rests = knownBindingRests(target);
  if (rests !== undefined) return rests;
  throw new TypeError(
    `Cannot refer to "${target.name}": it has several @rest, and not all without a scope; ` +
      `set main: true on the one whose scope and one() bind what refers to the class`,
  );
}

export function knownBindingRests(target: ModelClass): readonly RestRecord[] | undefined {
  const { rests } = describeModel(target);
  const main = rests.filter((rest) => rest.main);
  if (main.length > 0) return main;
  return rests.length < 2 || rests.every(({ scope }) => scope === undefined) ? rests : undefined;
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
  // A subclass does not inherit `collection`, or else its entities would be in the collection of its base class.
  return { ...Object.hasOwn(target, "schemaOptions") ? schemaOptions : inherited, ...first };
}
