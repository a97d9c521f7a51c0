import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { isPromise } from "../../../declare/hooks/run_hook.ts";
import { typesWithin } from "./schema_members.ts";

/** Mongoose keeps validators that it made from options in these properties, except that of `match`. */
const BUILT_IN = [
  "requiredValidator",
  "enumValidator",
  "minValidator",
  "maxValidator",
  "minlengthValidator",
  "maxlengthValidator",
];

export function validatesValueAlone(type: SchemaType): boolean {
  const builtIn = builtInValidators(type);
  return (type.validators as SchemaValidator[]).every(({ validator, regexp, propsParameter }) =>
    builtIn.includes(validator) || regexp instanceof RegExp ||
    (isArrow(validator) && propsParameter !== true)
  );
}

/**
 * An arrow function cannot read the document as `this`. The source of a method named `async` looks like an async arrow
 * function.
 */
function isArrow(validator: unknown): boolean {
  return typeof validator === "function" && !Object.hasOwn(validator, "prototype") &&
    validator.name !== "async" &&
    /^(async\s*)?(\(|[\w$]+\s*=>)/.test(Function.prototype.toString.call(validator));
}

function builtInValidators(type: SchemaType): unknown[] {
  return BUILT_IN.map((name) => (type as unknown as Record<string, unknown>)[name])
    .filter((each) => typeof each === "function");
}

/**
 * Mongoose does not await an asynchronous validator if a later rule fails. An unhandled rejection would end the
 * process.
 */
export function guardValidators(schema: Schema): void {
  for (const type of Object.values(schema.paths).flatMap(typesWithin)) {
    const builtIn = builtInValidators(type);
    for (const entry of type.validators as SchemaValidator[]) {
      const { validator } = entry;
      if (typeof validator !== "function" || builtIn.includes(validator)) continue;
      entry.ErrorConstructor ??= SafeValidatorError;
      // `isArrow()` also checks this wrapper, so an arrow function gets an arrow function.
      entry.validator = isArrow(validator)
        ? (...args: unknown[]) => handled(validator(...args))
        : function (this: unknown, ...args: unknown[]) {
          return handled(validator.apply(this, args));
        };
    }
  }
}

interface SchemaValidator {
  regexp?: unknown;
  validator?: unknown;
  propsParameter?: boolean;
  ErrorConstructor?: unknown;
}

function handled(result: unknown): unknown {
  if (!isPromise(result)) return result;
  const promise = Promise.resolve(result);
  const then: Promise<unknown>["then"] = (...next) => {
    const following = promise.then(...next);
    following.catch(() => {});
    return following;
  };
  promise.catch(() => {});
  return { then };
}

const { ValidatorError } = mongoose.Error;

/**
 * Mongoose's error would replace client text that looks like a placeholder, and throw for an object with a key
 * `toString`.
 */
export class SafeValidatorError extends ValidatorError {
  constructor(properties: Readonly<Record<string, unknown>>, doc?: object) {
    const { message } = properties;
    const toMessage = typeof message === "function"
      ? () => message(properties, doc)
      : () => messageOf(properties);
    super({ ...properties, message: toMessage } as never);
  }
}

function messageOf({ message, reason, ...others }: Readonly<Record<string, unknown>>): string {
  if (reason instanceof Error && reason.message === message) return reason.message;
  const template = String(message || mongoose.Error.messages.general.default);
  const values = new Map(
    Object.entries(others).map(([name, value]) => [name.toUpperCase(), value]),
  );
  return template.replace(
    /\{([^{}]+)\}/g,
    (place, name) => values.has(name) ? textOf(values.get(name)) : place,
  );
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
