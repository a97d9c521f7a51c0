// Mongoose gives a document that it reads the defaults of fields that are not stored, and writes them with the next
// save. Known of Mongoose 9: `$__.activePaths` holds the paths of a document by their state.
import type { Document } from "mongoose";

/** The paths of a document by their state. */
interface PathStates {
  getStatePaths(state: "default" | "modify"): Record<string, unknown>;
  clearPath(path: string): void;
}

/**
 * Has the next save of a stored document leave out the defaults that it only shows: they are no change. One that was
 * changed inside is written as a whole.
 */
export function dropShownDefaults(doc: Document): void {
  const { activePaths } = (doc as unknown as { $__: { activePaths?: PathStates } }).$__;
  if (doc.isNew || typeof activePaths?.clearPath !== "function") return;
  const changed = Object.keys(activePaths.getStatePaths("modify"));
  for (const path of Object.keys(activePaths.getStatePaths("default"))) {
    const isChanged = changed.some((each) => each.startsWith(`${path}.`));
    if (isChanged) doc.markModified(path);
    else activePaths.clearPath(path);
  }
}
