import { andThen, runHook } from "../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import type { StandardIssue, StandardSchema } from "../declare/decorators/field_options.ts";
import { isJson, isJsonObject, type JsonObject } from "./fields/json.ts";
import { isDocument } from "./mongoose/bson.ts";

/** The client gets the issues of a Standard Schema. Any other error is the application's failure. */
export class SchemaIssues extends Error {
  constructor(readonly issues: readonly StandardIssue[]) {
    super(issues[0]?.message);
  }
}

/** In an array of two functions, Mongoose would use the second one as the error message of the first. */
export function validatorsOf(validate: unknown): unknown {
  if (Array.isArray(validate)) {
    return typeof validate[1] === "string"
      ? validate
      : validate.map(validatorsOf).map((each) =>
        typeof each === "function" ? { validator: each } : each
      );
  }
  if (!isSchema(validate)) return validate;
  // `null` is no value, and `required` decides whether a value must be set.
  return (value: unknown) => value === null || andThen(parseBySchema(validate, value), () => true);
}

export function issuePath(field: string, { path = [] }: StandardIssue): string {
  const keys = path.map((part) => typeof part === "object" ? part.key : part);
  return [field, ...keys].map(String).join(".");
}

export function isSchema(value: unknown): value is StandardSchema {
  const isHolder = typeof value === "object" && value !== null || typeof value === "function";
  return isHolder && "~standard" in value;
}

export function parseBySchema(schema: StandardSchema, value: unknown): MaybePromise<unknown> {
  const result = runHook("validate", () => schema["~standard"].validate(pojoOf(value)));
  return andThen(result, ({ issues, value: made }) => {
    if (issues === undefined || issues === null) return made;
    throw new SchemaIssues(issues.length > 0 ? issues : [{ message: "Not valid" }]);
  });
}

export function jsonSchemaOf(
  schema: StandardSchema,
  side: "input" | "output",
): JsonObject | undefined {
  const { jsonSchema } = Object(schema["~standard"]) as {
    readonly jsonSchema?: { readonly [S in typeof side]?: (options: object) => unknown };
  };
  try {
    const written = jsonSchema?.[side]?.({ target: "draft-2020-12" });
    return isJsonObject(written) && isJson(written) ? written : undefined;
  } catch {
    // The validation library throws if JSON Schema cannot express its schema.
    return undefined;
  }
}

/** Strict objects and records of validation libraries do not accept instances of Mongoose's classes. */
function pojoOf(value: unknown): unknown {
  return isDocument(value) || Array.isArray(value)
    ? (value as { toObject?: () => unknown }).toObject?.() ?? value
    : value;
}
