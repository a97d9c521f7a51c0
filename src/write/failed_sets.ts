import type { Document } from "mongoose";
import { isPromise } from "../declare/hooks/run_hook.ts";
import { isFailedSet } from "../schema/mongoose/errors.ts";
import { holdsPromise } from "../schema/mongoose/schemas/refuse_promises.ts";
import { pendingProblems } from "../schema/mongoose/statements/judge_validation.ts";

/**
 * A value that the application has set and that cannot be cast to the type of its field. The application gets an error
 * about such a value, and the client gets no 400.
 */
export interface FailedSet {
  readonly path: string;
  readonly value: unknown;
  readonly problem?: { readonly kind: string };
}

/**
 * The failed casts that values of a body have caused, for example in a setter of the application. The client gets these
 * problems as errors of the body.
 */
const ofBodies = new WeakSet<object>();

/**
 * Marks the problems that a document already has as caused by the body, so that the client gets them. Problems that the
 * document gets later come from hooks or actions, and count as errors of the application.
 */
export function excuseFailedSets(doc: Document): void {
  for (const problem of Object.values(pendingProblems(doc))) ofBodies.add(problem as object);
}

/**
 * Returns the first value that the application has set in a document and that cannot be cast. A promise in free-form
 * data counts as such a value too. Returns `undefined` if every value can be cast.
 */
export function failedSet(doc: Document): FailedSet | undefined {
  const problems = pendingProblems(doc);
  for (const path of Object.keys(problems)) {
    const found = asFailedSet(path, problems[path]);
    if (found !== undefined) return found;
  }
  for (const path of doc.directModifiedPaths()) {
    if (doc.schema.path(path)?.instance !== "Mixed") continue;
    // Mongoose does not cast free-form data that is changed in place, so it would store a promise in the data as an
    // empty object. The data is therefore searched for a promise.
    const value: unknown = doc.get(path, undefined, { getters: false });
    if (holdsPromise(value)) return { path, value };
  }
  return undefined;
}

/**
 * Returns the value that cannot be cast and that caused a problem of a document, if the application has set this value.
 * Returns `undefined` for any other problem. A problem that a body has caused is left to the client.
 */
export function asFailedSet(path: string, problem: unknown): FailedSet | undefined {
  if (!isFailedSet(problem) || ofBodies.has(problem)) return undefined;
  return { path, value: problem.value, problem };
}

/**
 * Returns the text of an error about a value that cannot be cast. The text does not contain the value, because the
 * field of the value may be hidden.
 */
export function wordsOf({ path, value, problem }: FailedSet): string {
  if (!holdsPromise(value)) return `the value of "${path}" cannot be cast to ${problem?.kind}`;
  return `"${path}" ${isPromise(value) ? "is" : "holds"} a promise, so an "await" is missing`;
}
