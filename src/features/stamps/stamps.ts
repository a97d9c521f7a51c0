import type { Schema, SchemaType } from "mongoose";
import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { ClassFeature, StampedWrite } from "../../pipeline/class_feature.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import type { Stamp } from "./option.ts";

interface StampedField {
  readonly name: string;
  readonly stamp: Stamp;
}

const STAMPS: readonly unknown[] = ["createdBy", "updatedBy"] satisfies readonly Stamp[];

const TYPES: readonly string[] = ["String", "Number", "ObjectId"];

/**
 * All other options, such as validators, are refused: no client could correct a refused sender. The function `actor`
 * must check the sender.
 */
const WITH_STAMP: ReadonlySet<string> = new Set([
  ...["stamp", "type", "ref", "hidden", "readonly", "select", "index", "unique", "sparse"],
  ...["summary", "description", "deprecated", "example", "get", "transform"],
]);

export const stamps: ClassFeature<readonly StampedField[]> = {
  name: "stamps",
  declared: stampedFields,
  check: ({ value }) => value as readonly StampedField[],
  start(fields, { target, route }) {
    const [first] = fields;
    if (first !== undefined && route.actor === undefined) {
      throw cannotMount(
        target,
        `its field "${first.name}" has a stamp, which needs the option "actor" of initialize()`,
      );
    }
  },
  schema(fields, schema) {
    for (const { name } of fields) checkType(name, schema);
  },
  fields: (fields) => ({ stamped: fields.map(({ name }) => name) }),
  stamps: (fields, write) =>
    Object.fromEntries(
      fields.filter(({ stamp }) => write.isNew || stamp === "updatedBy")
        .map(({ name }) => [name, actorFor(name, write)]),
    ),
};

function stampedFields(target: ModelClass): readonly StampedField[] | undefined {
  const found = [...describeModel(target).fields.values()].flatMap(({ name, options }) => {
    const { stamp } = options;
    if (stamp === undefined) return [];
    if (!STAMPS.includes(stamp)) {
      throw cannotMount(
        target,
        `its field "${name}" has a stamp other than ${STAMPS.join(" or ")}`,
      );
    }
    if (options.readonly !== undefined && options.readonly !== true) {
      throw cannotMount(target, `its field "${name}" has a stamp, so clients cannot set it`);
    }
    const other = Object.keys(options).find((each) => !WITH_STAMP.has(each));
    if (other !== undefined) {
      throw cannotMount(target, `its field "${name}" has a stamp, and cannot have "${other}"`);
    }
    return [{ name, stamp: stamp as Stamp }];
  });
  return found.length === 0 ? undefined : found;
}

function checkType(name: string, schema: Schema): void {
  const { instance } = schema.path(name);
  if (TYPES.includes(instance)) return;
  throw new TypeError(
    `property "${name}" has a stamp, so it is a String, a Number or an ObjectId, not a ${instance}`,
  );
}

/** The client cannot correct a wrong sender, so the answer is 500. */
function actorFor(name: string, { actor, schema }: StampedWrite): unknown {
  if (actor === undefined) return undefined;
  const type: SchemaType = schema.path(name);
  try {
    return castForQuery(type, actor);
  } catch {
    throw new TypeError(`Cannot store the sender in "${name}": ${actor} is no ${type.instance}`);
  }
}
