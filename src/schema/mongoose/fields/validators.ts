import type { Schema, SchemaType } from "mongoose";
import { isPromise } from "../../../declare/hooks/run_hook.ts";
import type { Knowledge } from "../knowledge.ts";
import { RuleError } from "./rule_error.ts";
import { typesWithin } from "../schemas/schemas_within.ts";

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
  return (type.validators as HostRule[]).every(({ validator, type: rule, propsParameter }) =>
    // The validator of `match` is kept nowhere.
    kept.includes(validator) || rule === "regexp" ||
    (isArrow(validator) && propsParameter !== true)
  );
}

/** Whether it is an arrow function, to which `this` is never the document. A method could have any name but these. */
function isArrow(validator: unknown): boolean {
  return typeof validator === "function" && !Object.hasOwn(validator, "prototype") &&
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
      // What guards an arrow function is one.
      rule.validator = isArrow(validator)
        ? (...args: unknown[]) => handled(validator(...args))
        : function (this: unknown, ...args: unknown[]) {
          return handled(validator.apply(this, args));
        };
    }
  }
}

interface HostRule {
  type?: string;
  validator?: unknown;
  propsParameter?: boolean;
  ErrorConstructor?: unknown;
}

/** What follows a promise is a promise of its own, whose rejection is handled as well. */
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

export const VALIDATORS: Knowledge = {
  name: "validators of fields",
  holds({ schema }) {
    const known = ["text", "number", "date"].map((name) => schema.path(name) as SchemaType);
    const own = schema.path("own") as SchemaType;
    return known.every((type) => type.validators.length >= 3 && judgesValuesAlone(type)) &&
      own.validators.length === 1 && !judgesValuesAlone(own);
  },
};
