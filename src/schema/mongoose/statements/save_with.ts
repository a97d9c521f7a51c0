// How Mongoose's `save` reaches the database. Known of Mongoose 9: a document saves itself by one `insertOne` or
// `updateOne` of the collection that its prototype holds under a symbol, and gets the update from `$__delta`.
import type { Document, Model } from "mongoose";
import type { Update } from "./write_as_is.ts";

type Filter = Record<string, unknown>;

/** What Mongoose has made of the changes of a document. */
export interface SavedChanges {
  readonly where: Filter;
  readonly update: Update;
  /** Whether Mongoose ties the write to the version for more than arrays: `increment()`, `optimisticConcurrency`. */
  readonly isTied: boolean;
}

/** What writes in the place of Mongoose, after all middleware that runs before the write. */
export interface SaveStatements {
  /** Called right before Mongoose gathers the changes of a document. */
  prepare(): void;
  insert(values: Record<string, unknown>, options: object): Promise<unknown>;
  /** Writes the changes of a document; gives how many documents it met. */
  update(changes: SavedChanges, options: object): Promise<number>;
}

const DELTA = "$__delta";

/** What a document has at run time that its type does not declare. */
interface Inside {
  readonly [DELTA]: (...args: unknown[]) => unknown;
  readonly $__: { readonly version?: unknown };
}

/**
 * Saves a document by Mongoose's `save`, middleware and all, with statements of ours.
 *
 * @returns `false` if this version of Mongoose writes in another way: then nothing has happened.
 */
export async function saveWith(doc: Document, statements: SaveStatements): Promise<boolean> {
  const symbol = collectionSymbol(doc);
  const inside = doc as unknown as Inside;
  const delta = inside[DELTA];
  if (symbol === undefined || typeof delta !== "function") return false;
  let isTied = false;
  // Once only: middleware that runs after the write may save the document again.
  const release = () => [symbol, DELTA].forEach((key) => Reflect.deleteProperty(doc, key));
  const countedDelta = (...args: unknown[]) => {
    isTied = inside.$__.version !== undefined ||
      Boolean(doc.schema.get("optimisticConcurrency" as never));
    statements.prepare();
    return delta.apply(inside, args);
  };
  const collection = {
    insertOne(values: Record<string, unknown>, options: object) {
      release();
      return statements.insert(values, options);
    },
    async updateOne(where: Filter, update: Update, options: object) {
      release();
      return { matchedCount: await statements.update({ where, update, isTied }, options) };
    },
  };
  put(doc, [[DELTA, countedDelta], [symbol, collection]]);
  try {
    await doc.save();
  } finally {
    release();
  }
  return true;
}

/** The symbol under which documents of a model hold their collection. */
function collectionSymbol(doc: Document): symbol | undefined {
  const { prototype, collection } = doc.constructor as Model<unknown>;
  let holder: object | null = prototype;
  while (holder !== null) {
    const found = Object.getOwnPropertySymbols(holder).find((symbol) =>
      (doc as unknown as Record<symbol, unknown>)[symbol] === collection
    );
    if (found !== undefined) return found;
    holder = Object.getPrototypeOf(holder);
  }
  return undefined;
}

function put(doc: Document, members: readonly [string | symbol, unknown][]): void {
  for (const [key, value] of members) {
    Object.defineProperty(doc, key, { value, configurable: true, writable: true });
  }
}
