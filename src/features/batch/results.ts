import { Buffer } from "node:buffer";
import { badFormat, refusal } from "../../errors/refusals.ts";
import { isJsonObject } from "../../schema/fields/json.ts";

export interface ResultName {
  readonly text: string;
  readonly id: string;
  readonly steps: readonly string[];
}

/** Limits the values that requests take from earlier answers: a small batch could take a large one many times. */
const MAX_BYTES = 16 * 1024 * 1024;

export class Results {
  readonly #bodies = new Map<string, () => unknown>();
  #taken = 0;

  add(id: string, read: () => unknown): void {
    this.#bodies.set(id, memoized(read));
  }

  valueOf({ text, id, steps }: ResultName): unknown {
    let value = this.#bodies.get(id)?.();
    for (const step of steps) {
      const isWithin = typeof value === "object" && value !== null && Object.hasOwn(value, step);
      if (!isWithin || Array.isArray(value) && step === "length") {
        throw badFormat(`"${text}" names no value of its answer`);
      }
      value = (value as Record<string, unknown>)[step];
    }
    this.#taken += Buffer.byteLength(JSON.stringify(value));
    if (this.#taken <= MAX_BYTES) return value;
    const message = `The requests take more than ${MAX_BYTES} bytes from answers`;
    throw refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_BYTES });
  }
}

function memoized<T>(read: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => (cached ??= { value: read() }).value;
}

const NAME = /^([\w-]{1,64})((?:\.[^\s./\\{}]{1,100}){1,20})$/;

/** A path with these keys would leave the JSON of an answer and reach classes of JavaScript. */
const OF_CLASSES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export function readName(text: unknown, earlier: ReadonlySet<string>): ResultName {
  const name = parseName(text);
  if (earlier.has(name.id)) return name;
  throw badFormat(`"${text}" names no earlier request`);
}

function parseName(text: unknown): ResultName {
  const [, id = "", path = ""] = typeof text === "string" ? NAME.exec(text) ?? [] : [];
  const steps = path.split(".").slice(1);
  if (id === "" || steps.some((step) => OF_CLASSES.has(step))) {
    throw badFormat(`The name of a result looks like "a._id", not like ${JSON.stringify(text)}`);
  }
  return { text: String(text), id, steps };
}

const RESULT = "$result";

export function checkResultNames(body: unknown, earlier: ReadonlySet<string>): void {
  if (typeof body !== "object" || body === null) return;
  if (!isReference(body)) {
    for (const each of Object.values(body)) checkResultNames(each, earlier);
    return;
  }
  if (Object.keys(body).length > 1) {
    throw badFormat(`An object with "${RESULT}" has other keys too`);
  }
  readName(body[RESULT], earlier);
}

function isReference(value: object): value is { readonly [RESULT]: unknown } {
  return isJsonObject(value) && Object.hasOwn(value, RESULT);
}

export function withResults(body: unknown, results: Results): unknown {
  if (typeof body !== "object" || body === null) return body;
  if (isReference(body)) return results.valueOf(parseName(body[RESULT]));
  if (Array.isArray(body)) return body.map((each) => withResults(each, results));
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, withResults(value, results)]),
  );
}
