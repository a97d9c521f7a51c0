import type { Document } from "mongoose";
import { badData } from "../errors/refusals.ts";
import type { Problems } from "../errors/refusals.ts";
import type { RestError } from "../errors/rest_error.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { brokenRules } from "../write/body/broken_rules.ts";
import type { OpenLevel } from "./request/call.ts";

/** A body with values that cannot be cast, or that name no entity. */
interface WrongBody {
  readonly body: JsonObject;
  /** What the other values were merged into. */
  readonly entity: object;
  readonly problems: Problems;
}

/** Gives the 400 for such a body. It names the rules that other values break as well. */
export async function refuseBody(
  { level: { shape, hooks }, timeBudget }: OpenLevel,
  { body, entity, problems }: WrongBody,
): Promise<RestError> {
  if (!isDocument(entity)) return badData(problems);
  // A preSave hook may set what the body leaves out.
  const isComplete = entity.isNew && hooks.preSave === undefined;
  const counts = isComplete ? () => true : given(body, entity);
  const rules = await timeBudget.wait(brokenRules(entity, { shape, counts }));
  return badData({ ...rules, ...problems });
}

/** Tells whether a body sets a path, or a part of it. `isModified()` would list all paths for each one. */
function given(body: JsonObject, doc: Document): (path: string) => boolean {
  const direct = new Set(doc.directModifiedPaths());
  const modified = new Set<string>(doc.modifiedPaths());
  return (path) => {
    const [name = "", ...names] = path.split(".");
    if (!Object.hasOwn(body, name)) return false;
    if (doc.isNew || modified.has(path) || direct.has(name)) return true;
    let above = name;
    return names.some((each) => direct.has(above += `.${each}`));
  };
}
