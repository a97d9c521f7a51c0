import type { StoredObject } from "../store/values.ts";

/**
 * Mongoose casts values, adds defaults, and keeps no copy of the stored values. Without the snapshot, an update could
 * not detect that another request has changed a value.
 */
export interface Snapshot {
  readonly values: StoredObject;
  /**
   * `false` if the values are taken from the document, which may have cast the stored values. An update with the
   * condition that they are unchanged could fail, so its condition also accepts an equal version.
   */
  readonly isSent: boolean;
  /** The number of saves before the snapshot. A later save changes the stored values and makes the snapshot invalid. */
  readonly saves: number;
}

/** The facts about a document that Mongoose does not keep, from its read to its answer. */
export interface DocumentFacts {
  snapshot?: Snapshot;
  /** The fields that a hook has read to allow the write, so that the write has the condition that they are unchanged. */
  seen?: readonly string[];
  /**
   * The next save writes these paths even if their values are equal to the values that were read, because another
   * request may have changed the stored values in the meantime.
   */
  set?: ReadonlySet<string> | undefined;
  /** The stored values to which fields were set, each in an object with only its path. */
  setValues?: ReadonlyMap<string, StoredObject>;
  /** Whether the document shows values of other requests, which no hook has seen. */
  isChangedByOthers?: boolean;
}

const all = new WeakMap<object, DocumentFacts>();

export function factsOf(doc: object): DocumentFacts {
  const known = all.get(doc) ?? {};
  all.set(doc, known);
  return known;
}
