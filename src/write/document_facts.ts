import type { StoredObject } from "../store/values.ts";

/**
 * The stored values, of which Mongoose keeps no copy. An update detects by them that another request has changed a
 * value.
 */
export interface Snapshot {
  readonly values: StoredObject;
  /**
   * `false` if they come from the document, which may have cast them. A condition that they are unchanged then also
   * accepts an equal version.
   */
  readonly isSent: boolean;
  /** The number of saves before the snapshot, which the next save makes invalid. */
  readonly saves: number;
}

/** Facts that Mongoose does not keep, from the read to the answer. */
export interface DocumentFacts {
  snapshot?: Snapshot;
  /** The fields by which a hook has allowed the write, which must still be unchanged. */
  readByHooks?: readonly string[];
  /**
   * The next save writes these paths even without a change, because another request may have changed the stored values.
   */
  set?: ReadonlySet<string> | undefined;
  /** The stored values to which fields were set, each in an object with only its path. */
  setValues?: ReadonlyMap<string, StoredObject>;
  /** Whether it shows values of other requests, which no hook has seen. */
  isChangedByOthers?: boolean;
}

const all = new WeakMap<object, DocumentFacts>();

export function factsOf(doc: object): DocumentFacts {
  const facts = all.get(doc) ?? {};
  all.set(doc, facts);
  return facts;
}
