// Mongoose gives a document that it reads the defaults of fields that are not stored, and writes them with the next
// save. Known of Mongoose 9: `$__.activePaths` holds the paths of a document by their state.
import type { Document } from "mongoose";

interface PathStates {
  getStatePaths(state: "default" | "modify"): Record<string, unknown>;
  clearPath(path: string): void;
}

export interface ChangedDefault {
  readonly path: string;
  readonly changed: readonly string[];
}

/**
 * Has the next save of a stored document leave out the defaults that it only shows: they are no change. One that was
 * changed inside is written as a whole.
 *
 * @returns Those that are written as a whole.
 */
export function dropShownDefaults(doc: Document): ChangedDefault[] {
  const states = statesOf(doc);
  if (doc.isNew || states === undefined) return [];
  const modified = Object.keys(states.getStatePaths("modify"));
  const written: ChangedDefault[] = [];
  for (const path of Object.keys(states.getStatePaths("default"))) {
    const changed = modified.filter((each) => each.startsWith(`${path}.`));
    if (changed.length === 0) states.clearPath(path);
    else {
      doc.markModified(path);
      written.push({ path, changed });
    }
  }
  return written;
}

/** The changes of a document as an update, without defaults that it only shows. */
export function changesOf(doc: Document): Record<string, Record<string, unknown>> {
  dropShownDefaults(doc);
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
