import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { isPromise } from "../../../declare/hooks/run_hook.ts";
import { typesWithin } from "./schema_members.ts";

/** Where a type keeps the validators that Mongoose has made of its options. */
const KEPT_AS = [
  "requiredValidator",
  "enumValidator",
  "minValidator",
  "maxValidator",
  "minlengthValidator",
  "maxlengthValidator",
];

/** Whether the validators of a type look at nothing but the value: they may run without a document. */
export function judgesValuesAlone(type: SchemaType): boolean {
  const kept = keptValidators(type);
  return (type.validators as HostRule[]).every(({ validator, regexp, propsParameter }) =>
    // The validator of `match` is kept nowhere.
    kept.includes(validator) || regexp instanceof RegExp ||
    (isArrow(validator) && propsParameter !== true)
  );
}

/** Whether it is an arrow function, to which `this` is never the document. A method named `async` reads like one. */
function isArrow(validator: unknown): boolean {
  return typeof validator === "function" && !Object.hasOwn(validator, "prototype") &&
    validator.name !== "async" &&
    /^(async\s*)?(\(|[\w$]+\s*=>)/.test(Function.prototype.toString.call(validator));
}

function keptValidators(type: SchemaType): unknown[] {
  return KEPT_AS.map((name) => (type as unknown as Record<string, unknown>)[name])
    .filter((each) => typeof each === "function");
}

/**
 * Has validators of the host refuse any value of a client, by a {@linkcode RuleError}. Asynchronous ones leave no rejection
 * unhandled, which would end the process: Mongoose waits for none of them where a later rule of the same field is broken.
 */
export function guardValidators(schema: Schema): void {
  for (const type of Object.values(schema.paths).flatMap(typesWithin)) {
    const kept = keptValidators(type);
    for (const rule of type.validators as HostRule[]) {
      const { validator } = rule;
      if (typeof validator !== "function" || kept.includes(validator)) continue;
      rule.ErrorConstructor ??= RuleError;
      // The guard of an arrow function is one, too.
      rule.validator = isArrow(validator)
        ? (...args: unknown[]) => handled(validator(...args))
        : function (this: unknown, ...args: unknown[]) {
          return handled(validator.apply(this, args));
        };
    }
  }
}

interface HostRule {
  regexp?: unknown;
  validator?: unknown;
  propsParameter?: boolean;
  ErrorConstructor?: unknown;
}

/** Handles the rejections of a promise, and of each promise that follows it. */
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
 * Says that a value breaks a rule, as Mongoose does. Clients write values: what looks like a placeholder in one is none,
 * and an object with a key `toString`, which Mongoose cannot put into a message, is no failure of the application.
 */
export class RuleError extends ValidatorError {
  constructor(properties: Readonly<Record<string, unknown>>, doc?: object) {
    const { message } = properties;
    const toMessage = typeof message === "function"
      ? () => message(properties, doc)
      : () => messageOf(properties);
    super({ ...properties, message: toMessage } as never);
  }
}

function messageOf({ message, reason, ...others }: Readonly<Record<string, unknown>>): string {
  // The message of a thrown error is no template.
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
