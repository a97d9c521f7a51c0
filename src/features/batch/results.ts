import { Buffer } from "node:buffer";
import { badFormat, refusal } from "../../errors/refusals.ts";
import { isJsonObject } from "../../schema/fields/json.ts";

/** A placeholder in a request of a batch, such as `a._id`, for a value in the answer to the earlier request `a`. */
export interface ResultName {
  readonly text: string;
  /**
   * The identifier that the client has given the earlier request of the batch, such as `a` in the placeholder `a._id`.
   */
  readonly id: string;
  /**
   * The keys and indexes that lead to the value in the body of the earlier answer, such as `_id` in the placeholder
   * `a._id`.
   */
  readonly steps: readonly string[];
}

/**
 * The maximum number of bytes of JSON that the requests of a batch may copy from earlier answers. A small batch with
 * many placeholders for the same value could otherwise make a large body.
 */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The bodies of the answers to the earlier requests of a batch, from which later requests take values by placeholders.
 */
export class Results {
  readonly #bodies = new Map<string, () => unknown>();
  #taken = 0;

  /**
   * Adds the body of the answer to a request of a batch. The function `read` parses the body, and is called only if a
   * later request has a placeholder for a value of this answer.
   */
  add(id: string, read: () => unknown): void {
    this.#bodies.set(id, memoized(read));
  }

  /**
   * Returns the value for a placeholder in a request of a batch. Throws a 400 if the earlier answer has no such value,
   * and a 413 if the placeholders of the batch take too many bytes.
   */
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
  let known: { readonly value: T } | undefined;
  return () => (known ??= { value: read() }).value;
}

const NAME = /^([\w-]{1,64})((?:\.[^\s./\\{}]{1,100}){1,20})$/;

/**
 * The keys that JavaScript objects have because of their class. No entity has such a key, so no placeholder may contain
 * it.
 */
const OF_CLASSES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Reads a placeholder in a request of a batch, such as `a._id`. Throws a 400 if the placeholder is malformed, or if no
 * earlier request of the batch has its identifier.
 */
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

/**
 * Throws a 400 if the body of a request in a batch contains a malformed placeholder, or a placeholder with the
 * identifier of no earlier request.
 */
export function checkNames(body: unknown, earlier: ReadonlySet<string>): void {
  if (typeof body !== "object" || body === null) return;
  if (!isReference(body)) {
    for (const each of Object.values(body)) checkNames(each, earlier);
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

/**
 * Returns a copy of the body of a request in a batch, in which each object such as `{ "$result": "a._id" }` is replaced
 * by the value from the answer to the earlier request `a`.
 */
export function withResults(body: unknown, results: Results): unknown {
  if (typeof body !== "object" || body === null) return body;
  if (isReference(body)) return results.valueOf(parseName(body[RESULT]));
  if (Array.isArray(body)) return body.map((each) => withResults(each, results));
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, withResults(value, results)]),
  );
}
