import type { StoredObject } from "../store/values.ts";

/** The stored values, of which Mongoose keeps no copy. A write finds changes of other requests by them. */
export interface Snapshot {
  readonly values: StoredObject;
  /** `false` if Mongoose's cast may have changed the values. An equal version then also counts as unchanged. */
  readonly isSent: boolean;
  /** The number of saves before the snapshot. The next save makes it invalid. */
  readonly saves: number;
}

export interface DocumentFacts {
  snapshot?: Snapshot;
  /** The fields that a hook has read to allow the write. They must still be unchanged. */
  readByHooks?: readonly string[];
  /** Paths that the next save writes even if unchanged, because another request may have changed the stored values. */
  set?: ReadonlySet<string> | undefined;
  /** Values that a revert has set, by path. The next save takes values from here that Mongoose cannot cast. */
  setValues?: ReadonlyMap<string, StoredObject>;
  /** `true` if the document now shows values of other requests, so that `postFetch` must check it again. */
  isChangedByOthers?: boolean;
}

const all = new WeakMap<object, DocumentFacts>();

export function factsOf(doc: object): DocumentFacts {
  const facts = all.get(doc) ?? {};
  all.set(doc, facts);
  return facts;
}
