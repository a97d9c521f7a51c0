import type { FieldRecord, RestRecord } from "./records.ts";

/**
 * What the decorators of one class have recorded. Records are never read or changed through the prototype chain of
 * metadata objects, because compilers disagree on that chain.
 */
export interface ModelRecords {
  readonly fields: Map<string, FieldRecord>;
  /** The `@rest` on properties, by property. */
  readonly parts: Map<string, RestRecord[]>;
  /** The `@rest` on the class. */
  readonly rests: RestRecord[];
  /** Problems of the declaration, which are thrown when the class is first used. */
  readonly problems: string[];
}

const KEY = Symbol("mongrove");

// On Node 20, classes compiled by tsc have no metadata otherwise.
if (Symbol.metadata === undefined) {
  Object.defineProperty(Symbol, "metadata", { value: Symbol.for("Symbol.metadata") });
}

/** Gives the records of the class that is being decorated. */
export function openRecords(metadata: object): ModelRecords {
  if (!Object.hasOwn(metadata, KEY)) {
    const records: ModelRecords = { fields: new Map(), parts: new Map(), rests: [], problems: [] };
    Object.defineProperty(metadata, KEY, { value: records });
  }
  return (metadata as { [KEY]: ModelRecords })[KEY];
}

/** Gives the records of a class, without inherited ones. */
export function ownRecords(target: object): ModelRecords | undefined {
  if (!Object.hasOwn(target, Symbol.metadata)) return undefined;
  const metadata = (target as { [Symbol.metadata]: object | null })[Symbol.metadata];
  if (metadata === null || !Object.hasOwn(metadata, KEY)) return undefined;
  return (metadata as { [KEY]: ModelRecords })[KEY];
}
