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
import { BsonReads } from "./bson_reads.ts";
import { SharedReads } from "./shared_reads.ts";
import { EntityMaker } from "./entity_maker.ts";

const READ_MIDDLEWARE = ["find", "findOne", "init", "createModel"];

const COUNT_MIDDLEWARE = ["countDocuments"];

/**
 * The Mongoose middleware that inserts and updates run. If a model has such middleware, its inserts and updates need
 * Mongoose documents or queries, which run the middleware.
 */
const WRITE_MIDDLEWARE = [...READ_MIDDLEWARE, "save", "validate", "updateOne"];

const REMOVE_MIDDLEWARE = [...READ_MIDDLEWARE, "deleteOne"];

/**
 * The schema options that change queries. Only Mongoose applies them, so a model with one of these options is read by
 * Mongoose.
 */
const QUERY_OPTIONS = ["read", "readConcern", "collation"];

/**
 * The schema options that change how Mongoose writes. Inserts and updates of a model with one of these options need
 * Mongoose documents.
 */
const WRITE_OPTIONS = ["optimisticConcurrency", "shardKey", "writeConcern", "collation"];

/**
 * The field options whose functions may use other fields of the same document. Inserts and updates of a model with such
 * a field need Mongoose documents.
 */
const RULES = ["set", "transform"];

export interface ModelReads {
  readonly reader: BsonReads;
  readonly shared: SharedReads;
}

interface ModelSupport {
  readonly reads: ModelReads | undefined;
  /**
   * The reason why only Mongoose can read the model. `undefined` if the MongoDB driver can read the model directly,
   * which is faster.
   */
  readonly needsMongoose: string | undefined;
  readonly counts: boolean;
  readonly inserts: EntityMaker | undefined;
  readonly updates: boolean;
  readonly removes: boolean;
}

const supports = new WeakMap<Model<unknown>, WeakMap<Shape, ModelSupport>>();

/**
 * Returns the operations of a model that need no Mongoose documents, which are slow. The result is stored for each
 * model and each kind of reader, because the function examines all schemas.
 */
export function modelSupport(model: Model<unknown>, shape: Shape): ModelSupport {
  let ofModel = supports.get(model);
  if (ofModel === undefined) supports.set(model, ofModel = new WeakMap());
  let support = ofModel.get(shape);
  if (support === undefined) ofModel.set(shape, support = findSupport(model, shape));
  return support;
}

/**
 * Finds out which operations of a model need no Mongoose documents. An operation needs documents if Mongoose would run
 * functions of the application, or if an option of the model or of an embedded schema changes how Mongoose reads or
 * writes.
 */
export function findSupport(model: Model<unknown>, shape: Shape): ModelSupport {
  const runsNothing = (names: readonly string[]) =>
    checkMongoose().length === 0 && runsNothingOwn(model, names);
  const schema = model.schema as Schema;
  const schemas = [...schemasWithin(schema)];
  const fields = [...shape.fields.values()];
  const needsMongoose = whyMongoose(model);
  const reads = needsMongoose === undefined;
  // The plugins of a connection may add fields to a schema, which the description of the fields does not have. Writes
  // to a model with a changed schema therefore need Mongoose documents.
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

/**
 * Returns the first reason why only Mongoose can read a model, for the log of plans. Returns `undefined` if the MongoDB
 * driver can read the model directly.
 */
function whyMongoose(model: Model<unknown>): string | undefined {
  if (checkMongoose().length > 0) return "this version of Mongoose is not recognised";
  if (!runsNothingOwn(model, READ_MIDDLEWARE)) {
    return "the model has kinds, middleware of reads, or queued methods";
  }
  return [...schemasWithin(model.schema as Schema)].every(showsWhatIsStored)
    ? undefined
    : "a schema has options of queries, or shows JSON of the application";
}

/**
 * Whether the JSON of documents shows the stored values, so that the values can be read without Mongoose. Functions of
 * the application, the mode `strictRead: "throw"` and options of queries would change the result.
 */
function showsWhatIsStored(schema: Schema): boolean {
  const options = schema.options as Record<string, unknown>;
  return showsStoredValues(schema) && schema.get("strictRead") !== "throw" &&
    !QUERY_OPTIONS.some((name) => isSet(options[name]));
}

/**
 * Whether an option of a schema has a value. Mongoose stores `null` or `false` for an option that the application has
 * not set.
 */
function isSet(option: unknown): boolean {
  return option !== undefined && option !== null && option !== false;
}

function hasUsualWrites(schema: Schema): boolean {
  const options = schema.options as Record<string, unknown>;
  const { currentTime } = (options.timestamps ?? {}) as { currentTime?: unknown };
  return typeof schema.get("versionKey") === "string" && currentTime === undefined &&
    !WRITE_OPTIONS.some((name) => Boolean(options[name]));
}

/**
 * Whether new documents get a random ObjectId as `_id`, and timestamps whose fields have no default of the application.
 * Otherwise, only Mongoose can make these values, so each new entity needs a Mongoose document.
 */
function hasUsualStart(schema: Schema): boolean {
  return hasUsualId(schema) &&
    !Object.values(stampFields(schema)).some((name) => name && hasDefault(schema.path(name)));
}

/**
 * Whether the default value of a field can be made without a document. In any other case, a new entity without the
 * field needs a Mongoose document.
 */
function isMadeAlone([name, field]: [string, FieldShape]): boolean {
  const { kind, make } = fieldDefault(field);
  return name === "_id" || kind === "nothing" || make !== undefined;
}

/**
 * Whether values of a type can be written without a Mongoose document. The type must be built into Mongoose, and its
 * rules must look at the value alone.
 */
function needsNoDocument(type: SchemaType): boolean {
  const options = type.options as Record<string, unknown>;
  return isMongooseType(type) &&
    !RULES.some((name) => options[name] !== undefined) &&
    !isRequiredAtTimes(type) &&
    judgesValuesAlone(type);
}

/**
 * Whether no setter of the application changes a value of a field or of its elements. The values of a body can then be
 * written without a Mongoose document.
 */
function isSetAsGiven({ type, element, writable }: FieldShape): boolean {
  if (type !== undefined && writable && hasOwnSetters(type)) return false;
  return element === undefined || isSetAsGiven(element);
}
