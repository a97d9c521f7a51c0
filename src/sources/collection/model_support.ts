import type { Model, Schema, SchemaType } from "mongoose";
import { usualSchema } from "../../schema/build_schema.ts";
import { fieldDefault } from "../../schema/fields/field_default.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { validatesValueAlone } from "../../schema/mongoose/schemas/validators.ts";
import { showsStoredValues } from "../../schema/mongoose/documents/hide_in_json.ts";
import {
  hasDefault,
  hasOwnSetters,
  hasUsualId,
  isMongooseType,
  isRequiredAtTimes,
} from "../../schema/mongoose/schemas/field_rules.ts";
import {
  runsNothingOwn,
  schemasWithin,
  stampFields,
  typesWithin,
} from "../../schema/mongoose/schemas/schema_members.ts";
import { checkMongoose } from "../../schema/mongoose/assumptions.ts";
import { BsonReads } from "./bson_reads.ts";
import { SharedReads } from "./shared_reads.ts";
import { EntityMaker } from "./entity_maker.ts";

const READ_MIDDLEWARE = ["find", "findOne", "init", "createModel"];

const COUNT_MIDDLEWARE = ["countDocuments"];

const WRITE_MIDDLEWARE = [...READ_MIDDLEWARE, "save", "validate", "updateOne"];

const REMOVE_MIDDLEWARE = [...READ_MIDDLEWARE, "deleteOne"];

const QUERY_OPTIONS = ["read", "readConcern", "collation"];

const WRITE_OPTIONS = ["optimisticConcurrency", "shardKey", "writeConcern", "collation"];

/** Functions in these field options may use other fields of the document. */
const UNSUPPORTED_OPTIONS = ["set", "transform"];

export interface ModelReads {
  readonly reader: BsonReads;
  readonly shared: SharedReads;
}

interface ModelSupport {
  readonly reads: ModelReads | undefined;
  /** Why only Mongoose can read the model. */
  readonly needsMongoose: string | undefined;
  readonly counts: boolean;
  readonly inserts: EntityMaker | undefined;
  readonly updates: boolean;
  readonly removes: boolean;
}

const supports = new WeakMap<Model<unknown>, WeakMap<Shape, ModelSupport>>();

export function modelSupport(model: Model<unknown>, shape: Shape): ModelSupport {
  let ofModel = supports.get(model);
  if (ofModel === undefined) supports.set(model, ofModel = new WeakMap());
  let support = ofModel.get(shape);
  if (support === undefined) ofModel.set(shape, support = findSupport(model, shape));
  return support;
}

/**
 * Mongoose must make documents to run functions of the application, or for schema options that change reads or writes.
 */
export function findSupport(model: Model<unknown>, shape: Shape): ModelSupport {
  const runsNothing = (names: readonly string[]) =>
    checkMongoose().length === 0 && runsNothingOwn(model, names);
  const schema = model.schema as Schema;
  const schemas = [...schemasWithin(schema)];
  const fields = [...shape.fields.values()];
  const needsMongoose = whyMongoose(model);
  const reads = needsMongoose === undefined;
  // The shape describes the default connection's schema. Plugins of another connection may add fields, which only
  // documents write.
  const updates = !shape.strict && usualSchema(schema) === schema && hasUsualWrites(schema) &&
    runsNothing(WRITE_MIDDLEWARE) &&
    schemas.flatMap(({ paths }) => Object.values(paths)).flatMap(typesWithin)
      .every(needsNoDocument) &&
    fields.every(isSetAsGiven);
  const inserts = reads && updates && hasUsualStart(schema) && [...shape.fields].every(isMadeAlone);
  const reader = reads ? new BsonReads({ model, shape }) : undefined;
  return {
    needsMongoose,
    reads: reader && { reader, shared: new SharedReads(reader) },
    counts: reads && runsNothing(COUNT_MIDDLEWARE),
    inserts: inserts ? new EntityMaker(model, shape) : undefined,
    updates,
    removes: runsNothing(REMOVE_MIDDLEWARE),
  };
}

function whyMongoose(model: Model<unknown>): string | undefined {
  if (checkMongoose().length > 0) return "this version of Mongoose is not recognised";
  if (!runsNothingOwn(model, READ_MIDDLEWARE)) {
    return "the model has kinds, middleware of reads, or queued methods";
  }
  return [...schemasWithin(model.schema as Schema)].every(showsWhatIsStored)
    ? undefined
    : "a schema has options of queries, or shows JSON of the application";
}

function showsWhatIsStored(schema: Schema): boolean {
  const options = schema.options as Record<string, unknown>;
  return showsStoredValues(schema) && schema.get("strictRead") !== "throw" &&
    !QUERY_OPTIONS.some((name) => isSet(options[name]));
}

function isSet(option: unknown): boolean {
  return option !== undefined && option !== null && option !== false;
}

function hasUsualWrites(schema: Schema): boolean {
  const options = schema.options as Record<string, unknown>;
  const { currentTime } = (options.timestamps ?? {}) as { currentTime?: unknown };
  return typeof schema.get("versionKey") === "string" && currentTime === undefined &&
    !WRITE_OPTIONS.some((name) => Boolean(options[name]));
}

/** Only Mongoose can make other identifiers than a random ObjectId, and timestamps with a default. */
function hasUsualStart(schema: Schema): boolean {
  return hasUsualId(schema) &&
    !Object.values(stampFields(schema)).some((name) => name && hasDefault(schema.path(name)));
}

function isMadeAlone([name, field]: [string, FieldShape]): boolean {
  const { kind, make } = fieldDefault(field);
  return name === "_id" || kind === "nothing" || make !== undefined;
}

function needsNoDocument(type: SchemaType): boolean {
  const options = type.options as Record<string, unknown>;
  return isMongooseType(type) &&
    !UNSUPPORTED_OPTIONS.some((name) => options[name] !== undefined) &&
    !isRequiredAtTimes(type) &&
    validatesValueAlone(type);
}

function isSetAsGiven({ type, element, writable }: FieldShape): boolean {
  if (type !== undefined && writable && hasOwnSetters(type)) return false;
  return element === undefined || isSetAsGiven(element);
}
