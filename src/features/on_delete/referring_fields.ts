import type { Schema, SchemaType } from "mongoose";
import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { FieldRecord } from "../../declare/model/records.ts";
import { registeredModels } from "../../declare/model/records.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import { referredTarget } from "../../pipeline/references.ts";
import { fieldKind, isModelClass } from "../../schema/build_field.ts";
import { buildSchema, schemaClass } from "../../schema/build_schema.ts";
import { fieldsWithin, referenceIn, type Shape, shapeForAll } from "../../schema/fields/shape.ts";
import { memoize } from "../../schema/memoize.ts";
import { type RuleName, ruleName } from "./on_delete_rules.ts";
import type { OnDelete } from "./option.ts";

/** A list or object on the path to a reference. An update needs an array filter for each list. */
interface Holder {
  readonly name: string;
  readonly isList: boolean;
  readonly shape: Shape;
}

export interface ReferringField {
  /** The class of the document, even if an embedded class declares the field. */
  readonly owner: ModelClass;
  readonly name: string;
  readonly path: string;
  readonly holders: readonly Holder[];
  readonly isList: boolean;
  readonly rule: RuleName;
  /** The owner has no trash, but the referred class has, so a cascade is final. */
  readonly isForGood: boolean;
  /** The type of one reference, also in a list. */
  readonly type: SchemaType;
  readonly referred: ModelClass;
}

export const referringFields = memoize((owner: ModelClass): readonly ReferringField[] =>
  declaresRule(owner)
    ? fieldsIn(shapeForAll(buildSchema(owner).schema), { owner, holders: [] })
    : []
);

function fieldsIn(
  shape: Shape,
  { owner, holders }: Pick<ReferringField, "owner" | "holders">,
): ReferringField[] {
  return [...shape.fields].flatMap(([name, field]): ReferringField[] => {
    const path = [...holders.map((each) => each.name), name].join(".");
    const fail = (problem: string) => cannotMount(owner, `its field "${path}" ${problem}`);
    const isList = field.kind === "array";
    const inner = isList ? field.element?.shape : field.shape;
    if (field.kind === "map") {
      const within = [field, ...field.element ? [field.element] : []].concat(
        field.element?.shape ? fieldsWithin(field.element.shape) : [],
      );
      if (within.some(({ type }) => ruleOf(type) !== "keep")) {
        throw fail(`is a Map, whose references cannot have "onDelete"`);
      }
      return [];
    }
    if (inner !== undefined) {
      const isAgain = inner === shape || holders.some((each) => each.shape === inner);
      if (isAgain && fieldsWithin(inner).some(({ type }) => ruleOf(type) !== "keep")) {
        throw fail(`embeds itself, so its references cannot have "onDelete"`);
      }
      if (isAgain) return [];
      return fieldsIn(inner, { owner, holders: [...holders, { name, isList, shape: inner }] });
    }
    const declared = ruleOf(field.type);
    const reference = referenceIn(field);
    if (declared === "keep" || reference?.type === undefined) return [];
    const referred = referredTarget(reference);
    if (referred === undefined) throw fail(`has "onDelete" and refers to no class with @rest`);
    const rule = ruleName(declared);
    const isForGood = rule !== declared;
    const { type } = reference;
    return [{ owner, name, path, holders, isList, rule, isForGood, type, referred }];
  });
}

function ruleOf(type: SchemaType | undefined): OnDelete {
  const { onDelete = "keep" }: { readonly onDelete?: OnDelete } = type?.options ?? {};
  return onDelete;
}

/** Builds no schema, so this check is quick for classes without the option. */
function declaresRule(target: ModelClass, visited = new Set<ModelClass>()): boolean {
  visited.add(target);
  return [...describeModel(target).fields.values()].some((field) => {
    if (field.options.onDelete !== undefined) return true;
    const embedded = embeddedIn(field);
    return embedded !== undefined && !visited.has(embedded) && declaresRule(embedded, visited);
  });
}

function embeddedIn({ options }: FieldRecord): ModelClass | undefined {
  const { type, items, embedded, of } = options;
  const kind = fieldKind(of ?? type ?? (embedded === true ? items : undefined));
  return isModelClass(kind) ? kind : undefined;
}

/** Another `count` of declared classes makes the cache outdated. */
let cached: { readonly count: number; readonly byClass: Map<ModelClass, ReferringField[]> };

export function fieldsReferringTo(target: ModelClass): readonly ReferringField[] {
  const all = registeredModels();
  if (cached?.count !== all.length) {
    const byClass = new Map<ModelClass, ReferringField[]>();
    for (const field of all.flatMap(fieldsOf)) {
      byClass.set(field.referred, [...byClass.get(field.referred) ?? [], field]);
    }
    cached = { count: all.length, byClass };
  }
  return cached.byClass.get(target) ?? [];
}

/** A wrong declaration must fail only in routers with its class, so other routers ignore the error. */
function fieldsOf(owner: ModelClass): readonly ReferringField[] {
  try {
    return referringFields(owner);
  } catch {
    return [];
  }
}

export function partOf({ shape }: Holder): { target: ModelClass; schema: Schema } | undefined {
  const target = schemaClass(shape);
  return target && shape.schema && { target, schema: shape.schema };
}
