import type { Document, Model } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { copyJson, isJsonObject, type JsonObject } from "../schema/fields/json.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { secrecyOf } from "../schema/fields/visibility.ts";
import { isBrokenRule, isMisfit } from "../schema/mongoose/errors.ts";
import { judgeValidation } from "../schema/mongoose/statements/judge_validation.ts";
import { keptSoFar, storedText, valuesToStore } from "./stored_values.ts";

export interface Writer {
  /** The fields as the client may see them. */
  readonly shape: Shape;
  readonly target: ModelClass;
  /** The body that was merged into the document. */
  readonly body?: JsonObject | undefined;
}

/**
 * Has validations of a document distinguish who has set a value that breaks a rule. A client answers for what it sees and
 * for what it has sent. Stored values that it does not see are not validated for it, and those that hooks or actions have
 * set are an error of the application.
 */
export function attributeProblems(doc: Document, writer: Writer): void {
  judgeValidation(doc, (problems) => {
    let failure: Error | undefined;
    const values = new ComparedValues(doc);
    for (const [path, problem] of Object.entries(problems)) {
      const origin = originOf({ path, problem, values }, writer);
      if (origin === "client") continue;
      delete problems[path];
      if (origin === "application") failure ??= hiddenFailure({ path, problem }, writer);
    }
    if (failure !== undefined && Object.keys(problems).length === 0) throw failure;
  });
}

interface FoundProblem {
  readonly path: string;
  readonly problem: unknown;
}

function originOf(
  { path, problem, values }: FoundProblem & { readonly values: ComparedValues },
  { shape, body }: Writer,
): "client" | "stored" | "application" {
  const secrecy = secrecyOf(path, shape);
  if (secrecy === undefined) return "client";
  // Mongoose would write what is around such a value without the value.
  if (isMisfit(problem)) return values.isTouched(path) ? "application" : "stored";
  if (!isBrokenRule(problem)) return "client";
  const change = values.changeOf(path);
  if (change === undefined) return "stored";
  const isClients = secrecy === "holder" || change === "missing" || isNamed(path, body);
  return isClients ? "client" : "application";
}

function hiddenFailure({ path, problem }: FoundProblem, { target }: Writer): Error {
  const { kind } = problem as { readonly kind?: unknown };
  const reason = isMisfit(problem)
    ? `the stored value of the hidden property "${path}" cannot be cast to its type`
    : `a hook or an action has set the hidden property "${path}" to a value that is not valid (${kind})`;
  return new TypeError(`Cannot save "${target.name}": ${reason}`);
}

/** Whether a body gives a value to a path, or to an object around it that is no object in the body. */
function isNamed(path: string, body: JsonObject | undefined): boolean {
  let at: unknown = body;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null) return at !== undefined;
    if (!Object.hasOwn(at, name)) return false;
    at = at[name as keyof object];
  }
  return true;
}

/** The values of a document beside those that were stored when it was read. */
class ComparedValues {
  readonly #doc: Document;
  #now: unknown;
  #before: unknown;

  constructor(doc: Document) {
    this.#doc = doc;
  }

  isTouched(path: string): boolean {
    return this.#doc.isNew || this.#doc.isModified(path);
  }

  /** Returns how a value has changed; `"missing"` for one that a new object lacks, `undefined` for one that is as before. */
  changeOf(path: string): "changed" | "missing" | undefined {
    if (!this.isTouched(path)) return undefined;
    const doc = this.#doc;
    const now = this.#now ??= valuesToStore(doc);
    const before = this.#before ??= doc.isNew ? undefined : storedValues(doc);
    const found = compareAt(path, { now, before });
    const isMissing = found.now === undefined || found.now === null;
    if (isMissing && !found.hasHolder) return "missing";
    return found.hasHolder && storedText(found.now) === storedText(found.before)
      ? undefined
      : "changed";
  }
}

/** Returns what a document would show of the values that were read: without changes, and cast as they are in it. */
function storedValues(doc: Document): unknown {
  const kept = keptSoFar(doc);
  if (kept === undefined) return undefined;
  return valuesToStore(
    (doc.constructor as Model<unknown>).hydrate(copyJson(kept.values)) as Document,
  );
}

/** Follows a path in two objects. Elements of arrays are found by their identifiers: a body may have moved them. */
function compareAt(
  path: string,
  { now, before }: { readonly now: unknown; readonly before: unknown },
): { readonly now: unknown; readonly before: unknown; readonly hasHolder: boolean } {
  let [inNow, inBefore] = [now, before];
  let hasHolder = false;
  for (const name of path.split(".")) {
    hasHolder = typeof inBefore === "object" && inBefore !== null;
    const next = memberOf(inNow, name);
    inBefore = Array.isArray(inBefore) && isIdentified(next)
      ? inBefore.find((each) => isIdentified(each) && storedText(each._id) === storedText(next._id))
      : memberOf(inBefore, name);
    inNow = next;
  }
  return { now: inNow, before: inBefore, hasHolder };
}

function memberOf(holder: unknown, name: string): unknown {
  if (holder instanceof Map) return holder.get(name);
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, name)) {
    return undefined;
  }
  return holder[name as keyof object];
}

function isIdentified(value: unknown): value is { readonly _id: unknown } {
  return isJsonObject(value) && value._id !== undefined && value._id !== null;
}
