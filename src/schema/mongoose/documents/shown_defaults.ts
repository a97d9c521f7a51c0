// Mongoose gives a document that it reads the defaults of fields that are not stored, and writes them with the next
// save. Known of Mongoose 9: `$__.activePaths` holds the paths of a document by their state.
import type { Document } from "mongoose";

interface PathStates {
  getStatePaths(state: "default" | "modify"): Record<string, unknown>;
  clearPath(path: string): void;
}

/**
 * Gives the changes of a stored document as an update. The next save leaves out the defaults that it only shows: a PATCH
 * of one field would undo what another client has just set in a field that was not stored before. One that was changed
 * inside is written as a whole.
 */
export function changesOf(doc: Document): Record<string, Record<string, unknown>> {
  const states = statesOf(doc);
  const modified = Object.keys(states?.getStatePaths("modify") ?? {});
  for (const path of ownDefaults(doc)) {
    if (modified.some((each) => each.startsWith(`${path}.`))) doc.markModified(path);
    else states?.clearPath(path);
  }
  const { $getChanges } = doc as unknown as { $getChanges?: () => object };
  // Older versions name it otherwise.
  return ($getChanges === undefined ? doc.getChanges() : $getChanges.call(doc)) as ReturnType<
    typeof changesOf
  >;
}

/** The paths of a document at which it has put defaults itself. */
export function ownDefaults(doc: Document): string[] {
  return Object.keys(statesOf(doc)?.getStatePaths("default") ?? {});
}

function statesOf(doc: Document): PathStates | undefined {
  const { activePaths } = (doc as unknown as { $__: { activePaths?: PathStates } }).$__;
  return typeof activePaths?.clearPath === "function" ? activePaths : undefined;
}
