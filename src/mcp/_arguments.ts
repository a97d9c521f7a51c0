import { badFormat } from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import { isJsonObject, type JsonObject } from "../schema/fields/json.ts";
import { isInexact } from "../schema/fields/json_numbers.ts";

export interface ArgumentSchema {
  readonly type: "string" | "integer" | "boolean" | "object" | "array";
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minLength?: 1;
  readonly items?: { readonly type: "string" };
}

export interface Arguments {
  readonly model?: string;
  readonly action?: string;
  readonly id?: string;
  readonly q?: object;
  readonly sort?: readonly string[];
  readonly limit?: number;
  readonly after?: string;
  readonly skip?: number;
  readonly select?: readonly string[];
  readonly search?: string;
  readonly populate?: readonly string[];
  readonly count?: boolean;
  readonly body?: object;
  readonly ifMatch?: string;
  readonly idempotencyKey?: string;
}

export interface ArgumentsSchema {
  readonly type: "object";
  readonly properties: { readonly [N in keyof Arguments]?: ArgumentSchema };
  readonly required: readonly (keyof Arguments)[];
  readonly additionalProperties: false;
}

/** @throws {RestError} 400 that names the argument, so the assistant can correct it. */
export function checkArguments(given: JsonObject, schema: ArgumentsSchema): Arguments {
  const properties: Readonly<Record<string, ArgumentSchema>> = schema.properties;
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(properties, name)) continue;
    throw badArgument(name, `unknown: the arguments are ${Object.keys(properties).join(", ")}`);
  }
  const missing = schema.required.find((name) => given[name] === undefined);
  if (missing !== undefined) throw badArgument(missing, "missing");
  for (const [name, value] of Object.entries(given)) {
    const problem = problemOf(value, properties[name]);
    if (problem !== undefined) throw badArgument(name, problem);
  }
  return given;
}

export function badArgument(argument: string, problem: string): RestError {
  return badFormat(`Argument "${argument}" is ${problem}`, { argument });
}

function problemOf(value: unknown, schema: ArgumentSchema | undefined): string | undefined {
  if (schema === undefined) return "unknown";
  if (!CHECKS[schema.type](value)) {
    return schema.type === "array" ? "not an array of strings" : `not of type ${schema.type}`;
  }
  if (value === "") return "empty";
  // `encodeURIComponent()` throws for half of a surrogate pair.
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) return "not Unicode text";
  const { enum: allowed } = schema;
  if (allowed === undefined || allowed.some((each) => each === value)) return undefined;
  return `none of ${allowed.join(", ")}`;
}

const CHECKS: Readonly<Record<ArgumentSchema["type"], (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  object: isJsonObject,
  array: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
};

export function parametersIn(args: Arguments): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || Array.isArray(value) && value.length === 0) continue;
    query.set(name, isJsonObject(value) ? jsonOf(name, value) : String(value));
  }
  return query;
}

function jsonOf(name: string, value: JsonObject): string {
  try {
    return JSON.stringify(value, (_key, each: unknown) => {
      // The JSON parser may have rounded the number, and `JSON.stringify()` writes `Infinity` as `null`.
      if (typeof each === "number" && isInexact(each)) {
        const problem = `given a number that is not read exactly: write it as text, in the form ` +
          `{"$numberLong":"9007199254740993"}`;
        throw badArgument(name, problem);
      }
      return each;
    });
  } catch (error) {
    if (error instanceof RestError) throw error;
    // `JSON.stringify()` fails at nesting that JSON parsers accept.
    throw badArgument(name, "nested too deep");
  }
}
