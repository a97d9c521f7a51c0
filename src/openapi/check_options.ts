import { isJsonObject } from "../schema/fields/json.ts";
import type { OpenApiOptions } from "./options.ts";

type Check = (value: unknown) => string | undefined;

export const CHECKS: Readonly<Record<keyof OpenApiOptions, Check>> = {
  info: (info) =>
    isJsonObject(info) && hasStrings(info, ["title", "version"]) && mayDescribe(info)
      ? undefined
      : `"info" is not an object with a "title" and a "version", and a text as "description"`,
  servers: (servers) =>
    Array.isArray(servers) &&
      servers.every((each) => isJsonObject(each) && hasStrings(each, ["url"]) && mayDescribe(each))
      ? undefined
      : `"servers" is not a list of objects with a "url", and a text as "description"`,
  security: (security) =>
    Array.isArray(security) && security.every((each) => isObjectOf(each, isStringList))
      ? undefined
      : `"security" is not a list of objects of lists`,
  securitySchemes: (schemes) =>
    isObjectOf(schemes, isJsonObject) ? undefined : `"securitySchemes" is not an object of objects`,
  docs: (docs) => typeof docs === "boolean" ? undefined : `"docs" is neither true nor false`,
  version: (version) =>
    version === "3.1" || version === "3.2" ? undefined : `"version" is neither "3.1" nor "3.2"`,
  see: (see) => typeof see === "function" ? undefined : `"see" is not a function`,
  q: (q) => q === "content" || q === "string" ? undefined : `"q" is neither "content" nor "string"`,
};

export function checkOpenApiOptions(options: unknown): void {
  const problem = isJsonObject(options) ? problemOf(options) : "the options are not an object";
  if (problem !== undefined) throw new TypeError(`Cannot describe an API: ${problem}`);
}

function problemOf(options: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries({ info: undefined, ...options })) {
    if (!Object.hasOwn(CHECKS, name)) return `openapi() has no option "${name}"`;
    if (value === undefined && name !== "info") continue;
    const problem = CHECKS[name as keyof OpenApiOptions](value);
    if (problem !== undefined) return problem;
    if (!isWritable(value)) return `"${name}" is not JSON`;
  }
  return undefined;
}

/** A document cannot contain cyclic objects and bigints, for which `JSON.stringify()` throws. */
function isWritable(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

function hasStrings(object: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.every((name) => typeof object[name] === "string");
}

function mayDescribe({ description = "" }: Readonly<Record<string, unknown>>): boolean {
  return typeof description === "string";
}

function isObjectOf(value: unknown, isValue: (value: unknown) => boolean): boolean {
  return isJsonObject(value) && Object.values(value).every(isValue);
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
