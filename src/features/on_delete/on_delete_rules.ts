import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { FieldRecord } from "../../declare/model/records.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import { fieldKind, isModelClass } from "../../schema/build_field.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { ListOnDelete, OnDelete } from "./option.ts";

export type RuleName = Extract<OnDelete, string>;

export interface OnDeleteRule {
  readonly name: string;
  readonly rule: RuleName;
}

const RULES: readonly unknown[] = [
  "restrict",
  "cascade",
  "unset",
  "keep",
] satisfies readonly RuleName[];

const LIST_RULES: readonly unknown[] = [
  "restrict",
  "unset",
  "keep",
] satisfies readonly ListOnDelete[];

export function onDeleteRules(target: ModelClass): readonly OnDeleteRule[] {
  const fields = [...describeModel(target).fields.values()];
  return fields.filter(({ options }) => options.onDelete !== undefined).map((field) => {
    const { name, options: { onDelete: rule } } = field;
    const problem = problemOf(field);
    if (problem !== undefined) throw cannotMount(target, `its field "${name}" ${problem}`);
    return { name, rule: ruleName(rule as OnDelete) };
  });
}

export function ruleName(rule: OnDelete): RuleName {
  return typeof rule === "string" ? rule : "cascade";
}

function isForGood(rule: unknown): boolean {
  return isJsonObject(rule) && Object.keys(rule).length === 1 && rule.cascade === "forGood";
}

function problemOf({ array, options }: FieldRecord): string | undefined {
  const { onDelete: rule, required = false, ref, type, items, embedded } = options;
  const allowed = array ? LIST_RULES : RULES;
  if (!allowed.includes(rule) && (array || !isForGood(rule))) {
    const words = [...allowed, ...array ? [] : [`{ cascade: "forGood" }`]];
    return `has an "onDelete" other than ${words.join(", ")}`;
  }
  const isReference = array
    ? embedded !== true && (ref !== undefined || isModelClass(fieldKind(items)))
    : ref !== undefined;
  if (!isReference) return `has "onDelete" and is not a reference`;
  if (fieldKind(type) === fieldKind(Map)) {
    return `is a Map, whose references cannot have "onDelete"`;
  }
  return !array && rule === "unset" && required !== false
    ? `is required, so "onDelete" cannot be "unset"`
    : undefined;
}
