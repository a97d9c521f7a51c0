import type { Document } from "mongoose";
import { hookFailure, isPromise } from "../../declare/hooks/run_hook.ts";
import type { Problem, Problems } from "../../errors/refusals.ts";
import { isHiddenPath } from "../../schema/fields/visibility.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { RuleError } from "../../schema/mongoose/fields/rule_error.ts";
import { saysWrong } from "../../schema/mongoose/validation_failure.ts";
import { pathOf, SchemaIssues } from "../../schema/standard_schema.ts";

/** An entity that will not be saved, and what of it is judged. */
interface Judged {
  readonly shape: Shape;
  readonly counts: (path: string) => boolean;
}

/** Names the rules that values of a document break, without its middleware: this document will not be saved. */
export async function brokenRules(doc: Document, judged: Judged): Promise<Problems> {
  const rules = new Rules(judged);
  rules.judgeFields(doc, { shape: judged.shape, path: "", own: "", scope: doc });
  return Object.assign({}, ...await Promise.all(rules.verdicts));
}

class Rules {
  /** What is wrong with each value: asynchronous validators run at the same time, as those of Mongoose do. */
  readonly verdicts: Promise<Problems>[] = [];
  readonly #judged: Judged;

  constructor(judged: Judged) {
    this.#judged = judged;
  }

  judgeFields(holder: object, { shape, path, own, scope }: Fields): void {
    for (const [name, field] of shape.fields) {
      const value = isDocument(holder)
        ? holder.get(name, null, { getters: false })
        : (holder as Record<string, unknown>)[name];
      const place = {
        field,
        scope: isDocument(holder) ? holder : scope,
        path: join(path, name),
        own: isDocument(holder) ? name : join(own, name),
      };
      if (this.#judged.counts(place.path)) this.#judge(value, place);
    }
  }

  #judge(value: unknown, at: Spot): void {
    const { field: { shape, element, type }, path, own, scope } = at;
    this.verdicts.push(brokenBy(value, at).then((broken) => this.#conceal(broken, path)));
    if (typeof value !== "object" || value === null) return;
    if (shape !== undefined) this.judgeFields(value, { shape, path, own, scope });
    if (element === undefined) return;
    const field = element.type === type ? withoutRules(element) : element;
    const inner = value instanceof Map ? value : Object.entries(value);
    for (const [key, each] of inner) {
      const place = { ...at, field, path: join(path, key), own: join(own, key) };
      this.#judge(each, place);
    }
  }

  /** A message may hold a part of the value of its field. */
  #conceal(problems: Problems, path: string): Problems {
    const [problem] = Object.values(problems);
    if (problem === undefined || !isHiddenPath(path, this.#judged.shape)) return problems;
    return { [path]: { ...problem, message: `Field "${path}" is not valid` } };
  }
}

/** An array of documents has one type for itself and its elements: its rules are those of the array. */
function withoutRules({ type: _type, ...element }: FieldShape): FieldShape {
  return element;
}

interface Fields {
  readonly shape: Shape;
  readonly path: string;
  readonly own: string;
  /** What `this` is in validators: the document around it. */
  readonly scope: object;
}

interface Spot {
  readonly field: FieldShape;
  readonly path: string;
  /** Its path in the document that holds it, as messages of Mongoose name it. */
  readonly own: string;
  readonly scope: object;
}

/** What a validator and its message are told. */
interface Told {
  readonly properties: Record<string, unknown>;
  readonly scope: object;
}

/** Mongoose asks the first validator that fails, and of a value that is missing only whether it is required. */
async function brokenBy(
  value: unknown,
  { field: { type }, path, own, scope }: Spot,
): Promise<Problems> {
  for (const rule of type?.validators ?? []) {
    if (value === undefined && rule.type !== "required") continue;
    const length = typeof value === "string" ? { length: value.length } : {};
    const properties: Record<string, unknown> = { ...rule, ...length, path: own, value };
    try {
      if (await passes(value, { properties, scope })) continue;
    } catch (reason) {
      if (reason instanceof SchemaIssues) {
        const { type: kind = "invalid" } = rule;
        return Object.fromEntries(
          reason.issues.map((issue) => [pathOf(path, issue), { message: issue.message, kind }]),
        );
      }
      if (rule.type === "required" || !saysWrong(reason)) throw hookFailure("validate", reason);
      if (reason instanceof Error) properties.message = reason.message;
    }
    return { [path]: problemOf({ properties, scope }) };
  }
  return {};
}

/** Of what a promise gives, Mongoose refuses `false` alone. */
async function passes(value: unknown, { properties, scope }: Told): Promise<boolean> {
  const { validator, propsParameter } = properties;
  if (validator instanceof RegExp) return validator.test(String(value));
  const args = propsParameter ? [value, properties] : [value];
  const verdict: unknown = (validator as (...args: unknown[]) => unknown).apply(scope, args);
  if (isPromise(verdict)) return await verdict !== false;
  return verdict === undefined || Boolean(verdict);
}

/** A message may be a function of the application, which may throw. */
function problemOf({ properties, scope }: Told): Problem {
  const { message: given, type: kind = "invalid" } = properties as {
    message?: unknown;
    type?: string;
  };
  try {
    const message = typeof given === "function"
      ? String(given(properties, scope))
      : new RuleError(properties).message;
    return { message, kind };
  } catch (error) {
    throw hookFailure("validate", error);
  }
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
