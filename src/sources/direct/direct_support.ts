import type { Model, Schema, SchemaType } from "mongoose";
import { usualSchema } from "../../schema/build_schema.ts";
import { fieldDefault } from "../../schema/fields/field_default.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { judgesValuesAlone } from "../../schema/mongoose/schemas/validators.ts";
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
import { BsonReads } from "./stored_reader.ts";
import { SharedReads } from "./shared_reads.ts";
import { EntityMaker } from "./entity_maker.ts";

const READ_MIDDLEWARE = ["find", "findOne", "init", "createModel"];

const COUNT_MIDDLEWARE = ["countDocuments"];

/** Middleware that an insert or an update runs, on the document or on the query. */
const WRITE_MIDDLEWARE = [...READ_MIDDLEWARE, "save", "validate", "findOneAndUpdate", "updateOne"];

const REMOVE_MIDDLEWARE = [...READ_MIDDLEWARE, "deleteOne"];

/** Options of a schema that change what a query asks for, or how. */
const QUERY_OPTIONS = ["read", "readConcern", "collation"];

/** Options of a schema that change how Mongoose writes. */
const WRITE_OPTIONS = ["optimisticConcurrency", "shardKey", "writeConcern", "collation"];

/** Options of a field that need the document: they may look at its other fields. */
const RULES = ["set", "transform"];

export interface DirectReads {
  readonly reader: BsonReads;
  readonly shared: SharedReads;
}

interface DirectSupport {
  readonly reads: DirectReads | undefined;
  /** Why only Mongoose can read the model; `undefined` if `reads` can. */
  readonly needsMongoose: string | undefined;
  readonly counts: boolean;
  readonly inserts: EntityMaker | undefined;
  readonly updates: boolean;
  readonly removes: boolean;
}

const supports = new WeakMap<Model<unknown>, WeakMap<Shape, DirectSupport>>();

/** Tells what a model allows without documents; looks at each model once for each shape that readers see of it. */
export function directSupport(model: Model<unknown>, shape: Shape): DirectSupport {
  let ofModel = supports.get(model);
  if (ofModel === undefined) supports.set(model, ofModel = new WeakMap());
  let support = ofModel.get(shape);
  if (support === undefined) ofModel.set(shape, support = findSupport(model, shape));
  return support;
}

/** Looks at a model and all that it embeds: documents are needed where Mongoose runs or adds anything of the user's. */
export function findSupport(model: Model<unknown>, shape: Shape): DirectSupport {
  const runsNothing = (names: readonly string[]) =>
    checkMongoose().length === 0 && runsNothingOwn(model, names);
  const schema = model.schema as Schema;
  const schemas = [...schemasWithin(schema)];
  const fields = [...shape.fields.values()];
  const needsMongoose = whyMongoose(model);
  const reads = needsMongoose === undefined;
  // The plugins of a connection may change the fields, which the shape knows by the usual schema.
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

/** Returns the first reason why only Mongoose can read a model, if there is one. */
function whyMongoose(model: Model<unknown>): string | undefined {
  if (checkMongoose().length > 0) return "this version of Mongoose is not recognised";
  if (!runsNothingOwn(model, READ_MIDDLEWARE)) {
    return "the model has kinds, middleware of reads, or members that replace Mongoose's";
  }
  return [...schemasWithin(model.schema as Schema)].every(showsWhatIsStored)
    ? undefined
    : "a schema has options of queries, or shows JSON of the application";
}

/** Whether documents of a schema show what is stored: its JSON, its options and its paths are the usual ones. */
function showsWhatIsStored(schema: Schema): boolean {
  const options = schema.options as Record<string, unknown>;
  return showsStoredValues(schema) && schema.get("strictRead") !== "throw" &&
    !QUERY_OPTIONS.some((name) => isSet(options[name]));
}

/** Mongoose sets options that were not given to `null` or `false`. */
function isSet(option: unknown): boolean {
  return option !== undefined && option !== null && option !== false;
}

function hasUsualWrites(schema: Schema): boolean {
  const options = schema.options as Record<string, unknown>;
  const { currentTime } = (options.timestamps ?? {}) as { currentTime?: unknown };
  return typeof schema.get("versionKey") === "string" && currentTime === undefined &&
    !WRITE_OPTIONS.some((name) => Boolean(options[name]));
}

/** Whether new documents get a random identifier, and their timestamps have no defaults. */
function hasUsualStart(schema: Schema): boolean {
  return hasUsualId(schema) &&
    !Object.values(stampFields(schema)).some((name) => name && hasDefault(schema.path(name)));
}

/** Whether the value of a field that is left out can be made without a document. */
function isMadeAlone([name, field]: [string, FieldShape]): boolean {
  const { kind, make } = fieldDefault(field);
  return name === "_id" || kind === "nothing" || make !== undefined;
}

/** Whether a type is one of Mongoose's, with no rules that look at the document. */
function needsNoDocument(type: SchemaType): boolean {
  const options = type.options as Record<string, unknown>;
  return isMongooseType(type) &&
    !RULES.some((name) => options[name] !== undefined) &&
    !isRequiredAtTimes(type) &&
    judgesValuesAlone(type);
}

/** Whether a body that sets a field, or its elements, runs nothing of the user's. */
function isSetAsGiven({ type, element, writable }: FieldShape): boolean {
  if (type !== undefined && writable && hasOwnSetters(type)) return false;
  return element === undefined || isSetAsGiven(element);
}
