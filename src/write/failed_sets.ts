import type { Document } from "mongoose";
import { isPromise } from "../declare/hooks/run_hook.ts";
import { isFailedSet } from "../schema/mongoose/errors.ts";
import { holdsPromise } from "../schema/mongoose/schemas/refuse_promises.ts";
import { pendingProblems } from "../schema/mongoose/statements/judge_validation.ts";

/** A value that the application has put into an entity, and that cannot be cast to the type of its field. */
export interface FailedSet {
  readonly path: string;
  readonly value: unknown;
  readonly problem?: { readonly kind: string };
}

/** Problems that the values of a body have caused, such as in a setter of the application. */
const ofBodies = new WeakSet<object>();

/** Has the problems that a document has by now count as the client's. */
export function excuseFailedSets(doc: Document): void {
  for (const problem of Object.values(pendingProblems(doc))) ofBodies.add(problem as object);
}

/** Finds a value that the application could not set in a document. */
export function failedSet(doc: Document): FailedSet | undefined {
  for (const [path, problem] of Object.entries(pendingProblems(doc))) {
    const found = asFailedSet(path, problem);
    if (found !== undefined) return found;
  }
  for (const path of doc.directModifiedPaths()) {
    if (doc.schema.path(path)?.instance !== "Mixed") continue;
    // Nothing is cast where free-form data is changed in place.
    const value: unknown = doc.get(path, undefined, { getters: false });
    if (holdsPromise(value)) return { path, value };
  }
  return undefined;
}

/** Returns a problem of a document as a failed set; `undefined` for any other, and for one that a body has caused. */
export function asFailedSet(path: string, problem: unknown): FailedSet | undefined {
  if (!isFailedSet(problem) || ofBodies.has(problem)) return undefined;
  return { path, value: problem.value, problem };
}

/** Describes a failed set in an error of the application, without the value. */
export function wordsOf({ path, value, problem }: FailedSet): string {
  if (!holdsPromise(value)) return `the value of "${path}" cannot be cast to ${problem?.kind}`;
  return `"${path}" ${isPromise(value) ? "is" : "holds"} a promise, so an "await" is missing`;
}
