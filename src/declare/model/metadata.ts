import type { FieldRecord, RestRecord } from "./records.ts";

/**
 * What the decorators of one class have recorded. Three rules hold for it, and all three are kept here.
 *
 * 1. Nothing is read through the prototype chain of metadata objects: compilers disagree on that chain. Each class
 *    owns its records, and {@linkcode ownRecords} gives those of a class alone.
 * 2. An inherited record is never changed: a class without records of its own gets a new object.
 * 3. `Symbol.metadata` is defined where it is missing, before any model class is evaluated.
 */
export interface ModelRecords {
  /** The fields, in the order of their declaration. */
  readonly fields: Map<string, FieldRecord>;
  /** The `@rest` on properties, by property. */
  readonly parts: Map<string, RestRecord[]>;
  /** The `@rest` on the class. */
  readonly rests: RestRecord[];
  /** What is wrong with the declaration, said when the class is first used. */
  readonly problems: string[];
}

const KEY = Symbol("mongrove");

if (Symbol.metadata === undefined) {
  Object.defineProperty(Symbol, "metadata", { value: Symbol.for("Symbol.metadata") });
}

/** Gives the records of the class that is being decorated, made at the first call. */
export function openRecords(metadata: object): ModelRecords {
  if (!Object.hasOwn(metadata, KEY)) {
    const records: ModelRecords = { fields: new Map(), parts: new Map(), rests: [], problems: [] };
    Object.defineProperty(metadata, KEY, { value: records });
  }
  return (metadata as { [KEY]: ModelRecords })[KEY];
}

/** Gives the records that a class itself owns, inherited ones left out. */
export function ownRecords(target: object): ModelRecords | undefined {
  if (!Object.hasOwn(target, Symbol.metadata)) return undefined;
  const metadata = (target as { [Symbol.metadata]: object | null })[Symbol.metadata];
  if (metadata === null || !Object.hasOwn(metadata, KEY)) return undefined;
  return (metadata as { [KEY]: ModelRecords })[KEY];
}
