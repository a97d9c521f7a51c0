import { problemsOf } from "../database/translate_error.ts";
import type { ActionRecord, DataType } from "../declare/operations/action.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { badData } from "../errors/refusals.ts";
import { toJson, toJsonValue } from "../json/to_json.ts";
import { isModelClass } from "../schema/build_field.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { describeShape } from "../schema/fields/shape.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import { detachedModel } from "../schema/get_model.ts";
import { classOf } from "../schema/model_name.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { parseBySchema, pathOf, SchemaIssues } from "../schema/standard_schema.ts";
import { instanceMaker } from "../sources/direct/instance_maker.ts";
import { mergeBody } from "../write/body/merge_body.ts";
import { readBody } from "../write/body/read_body.ts";
import { storedValues } from "../write/stored_values.ts";
import { missingReferences } from "./references/missing_references.ts";
import type { OpenLevel } from "./request/call.ts";
import { validate } from "./write.ts";

export async function readActionBody(
  acting: OpenLevel,
  type: ActionRecord["body"],
): Promise<unknown> {
  if (type === undefined) return undefined;
  const body = readBody(acting.req, acting.route.bodyLimits);
  return isModelClass(type) ? await castBody(acting, { type, body }) : await parseBody(type, body);
}

async function parseBody(
  type: Exclude<DataType, ModelClass>,
  body: JsonObject,
): Promise<unknown> {
  try {
    return await parseBySchema(type, body);
  } catch (error) {
    if (!(error instanceof SchemaIssues)) throw error;
    const problems = error.issues.map((issue) => {
      return [pathOf("", issue).replace(/^\./, ""), { message: issue.message, kind: "schema" }];
    });
    throw badData(Object.fromEntries(problems), error);
  }
}

interface GivenBody {
  readonly type: ModelClass;
  readonly body: JsonObject;
}

/** Casts and validates a body as that of a creation; its problems come together. */
async function castBody(acting: OpenLevel, { type, body }: GivenBody): Promise<object> {
  const shape = shapeFor(acting, type);
  const doc = new (detachedModel(type))();
  const { problems, references } = mergeBody(doc, { body, shape });
  const missing = await missingReferences(acting, references);
  const error = await acting.timeBudget.wait(validate(doc, () => true));
  if (error !== undefined || problems !== undefined || missing !== undefined) {
    const rules = error && problemsOf(error, (path) => isHiddenPath(path, shape));
    throw badData({ ...rules, ...problems, ...missing }, error);
  }
  const { _id, ...values } = storedValues(doc);
  return makerOf(type, shape)(values);
}

function shapeFor({ level: { rights } }: OpenLevel, type: ModelClass): Shape {
  return describeShape(buildSchema(type).schema, rights);
}

/** Makes instances of the classes of bodies, by the shapes of their readers. */
const makers = new WeakMap<Shape, (values: object) => object>();

function makerOf(type: ModelClass, shape: Shape): (values: object) => object {
  const known = makers.get(shape);
  if (known !== undefined) return known;
  const options = { shape, shows: () => true, prefix: "", populated: new Set<string>() };
  const make = instanceMaker(type, options);
  makers.set(shape, make);
  return make;
}

/** Whether something is an entity of a class, or of one below it. */
export function isOfClass(result: unknown, target: ModelClass): result is object {
  if (!isDocument(result)) return false;
  const { modelName = "" } = result.constructor as { readonly modelName?: string };
  const own = classOf(modelName.replace(/~embedded$/, ""));
  return own !== undefined && (own === target || own.prototype instanceof target);
}

interface GivenAnswer {
  readonly type: DataType;
  readonly result: unknown;
}

export async function writeAnswer(
  acting: OpenLevel,
  { type, result }: GivenAnswer,
): Promise<string> {
  try {
    if (!isModelClass(type)) return toJson(await parseBySchema(type, result));
    const shape = shapeFor(acting, type);
    if (isOfClass(result, type)) return toJson(result, shape);
    return await acting.timeBudget.wait(castAnswer({ type, result }, shape));
  } catch (cause) {
    const { operation, target } = acting.level;
    throw new TypeError(
      `Cannot answer: what the action ${operation}() of "${target.name}" gave does not fit its "answer"`,
      { cause },
    );
  }
}

/** Casts and validates an object that is no document; undeclared fields are left out. */
async function castAnswer(
  { type, result }: { readonly type: ModelClass; readonly result: unknown },
  shape: Shape,
): Promise<string> {
  if (typeof result !== "object" || result === null || Array.isArray(result)) {
    throw new TypeError(`It is not an object`);
  }
  const values = isDocument(result) ? result.toObject() : { ...result };
  const doc = new (detachedModel(type))(values);
  await doc.validate();
  const value = toJsonValue(doc, shape);
  return JSON.stringify(withoutNewIds(value, values));
}

/** Leaves out the identifiers that Mongoose has given to new objects. */
function withoutNewIds(value: unknown, given: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((each, index) => withoutNewIds(each, Object(given)[index]));
  }
  if (!isJsonObject(value) || typeof given !== "object" || given === null) return value;
  const inner = (name: string) =>
    given instanceof Map ? given.get(name) : (given as JsonObject)[name];
  const kept = Object.entries(value).filter(([name]) =>
    name !== "_id" || inner(name) !== undefined
  );
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutNewIds(each, inner(name))]));
}
