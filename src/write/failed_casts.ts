import type { Document } from "mongoose";
import { isPromise } from "../declare/hooks/run_hook.ts";
import { isCastError } from "../schema/mongoose/errors.ts";
import { holdsPromise } from "../schema/mongoose/schemas/refuse_promises.ts";
import { pendingProblems } from "../schema/mongoose/statements/filter_errors.ts";

/** A wrong value of a hook or an action. The client cannot correct it, so the answer is 500. */
export interface FailedCast {
  readonly path: string;
  readonly value: unknown;
  readonly problem?: { readonly kind: string };
}

const ofBodies = new WeakSet<object>();

/** Cast errors so far come from the body, later ones from hooks or actions, which are no 400. */
export function excludeBodyCasts(doc: Document): void {
  for (const problem of Object.values(pendingProblems(doc))) ofBodies.add(problem as object);
}

export function findFailedCast(doc: Document): FailedCast | undefined {
  const problems = pendingProblems(doc);
  for (const path of Object.keys(problems)) {
    const found = asFailedCast(path, problems[path]);
    if (found !== undefined) return found;
  }
  for (const path of doc.directModifiedPaths()) {
    if (doc.schema.path(path)?.instance !== "Mixed") continue;
    // Mongoose casts no changes inside free-form data, and would store a promise there as an empty object.
    const value: unknown = doc.get(path, undefined, { getters: false });
    if (holdsPromise(value)) return { path, value };
  }
  return undefined;
}

export function asFailedCast(path: string, problem: unknown): FailedCast | undefined {
  if (!isCastError(problem) || ofBodies.has(problem)) return undefined;
  return { path, value: problem.value, problem };
}

/** The message leaves out the value, because its field may be hidden. */
export function failureText({ path, value, problem }: FailedCast): string {
  if (!holdsPromise(value)) return `the value of "${path}" cannot be cast to ${problem?.kind}`;
  return `"${path}" ${isPromise(value) ? "is" : "holds"} a promise, so an "await" is missing`;
}
