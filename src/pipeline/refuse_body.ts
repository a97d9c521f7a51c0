import mongoose from "mongoose";
import type { Document } from "mongoose";
import { problemsOf } from "../database/errors/translate_error.ts";
import { badData } from "../errors/bad_data.ts";
import type { Problems } from "../errors/bad_data.ts";
import type { RestError } from "../errors/rest_error.ts";
import { isHiddenPath } from "../schema/fields/hidden_path.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { dropMiddleware } from "../schema/mongoose/schemas/middleware.ts";
import { validationFailure } from "../schema/mongoose/validation_failure.ts";
import type { OpenLevel } from "./request/call.ts";

/** A body with values that cannot be cast, or that name no entity. */
interface WrongBody {
  readonly body: JsonObject;
  /** The entity that the other values were merged into. */
  readonly entity: object;
  readonly problems: Problems;
}

/** Gives the 400 for such a body. It names the rules that other values break as well: a form shows all at once. */
export async function refuseBody(
  { level: { shape, hooks }, timeBudget }: OpenLevel,
  { body, entity, problems }: WrongBody,
): Promise<RestError> {
  if (!isDocument(entity)) return badData(problems);
  // A preSave hook may set what the body leaves out.
  const isComplete = entity.isNew && hooks.preSave === undefined;
  const error = await timeBudget.wait(
    validate(entity, isComplete ? () => true : given(body, entity)),
  );
  const rules = error && problemsOf(error, (path) => isHiddenPath(path, shape));
  return badData({ ...rules, ...problems });
}

type ValidationError = InstanceType<typeof mongoose.Error.ValidationError>;

/** Validates some paths of a document that will not be saved; gives the error. Throws what a validator has thrown. */
async function validate(
  doc: Document,
  counts: (path: string) => boolean,
): Promise<ValidationError | undefined> {
  dropMiddleware(doc);
  try {
    await doc.validate();
    return undefined;
  } catch (error) {
    if (!(error instanceof mongoose.Error.ValidationError)) throw error;
    for (const path of Object.keys(error.errors)) {
      if (!counts(path)) Reflect.deleteProperty(error.errors, path);
    }
    if (validationFailure(error) !== undefined) throw error;
    return error;
  }
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
