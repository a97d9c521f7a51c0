import type { StoredObject } from "../store/values.ts";

/** The stored values, of which Mongoose keeps no copy. They reveal changes of other requests. */
export interface Snapshot {
  readonly values: StoredObject;
  /**
   * `false` if the values come from the document, which may have cast them. An equal version then also means unchanged.
   */
  readonly isSent: boolean;
  /** The number of saves before the snapshot. The next save makes it invalid. */
  readonly saves: number;
}

export interface DocumentFacts {
  snapshot?: Snapshot;
  /** The fields that a hook has read to allow the write. They must still be unchanged. */
  readByHooks?: readonly string[];
  /** The next save writes even unchanged paths, because another request may have changed the stored values. */
  set?: ReadonlySet<string> | undefined;
  /** Stored values that fields were set to, each in an object with only its path. */
  setValues?: ReadonlyMap<string, StoredObject>;
  /** `true` if the document shows values of other requests, which no hook has seen. */
  isChangedByOthers?: boolean;
}

const all = new WeakMap<object, DocumentFacts>();

export function factsOf(doc: object): DocumentFacts {
  const facts = all.get(doc) ?? {};
  all.set(doc, facts);
  return facts;
}
