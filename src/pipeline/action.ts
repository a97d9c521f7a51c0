import type { ClientSession, Document } from "mongoose";
import type { ActionRecord, DataType, ModelQuery } from "../declare/operations/action.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import type { FrameworkModel, ModelClass } from "../declare/model/framework_model.ts";
import { badData } from "../errors/refusals.ts";
import { hasOneOf, isEmpty } from "../filter/filters.ts";
import { readProjection, showsInPart } from "../filter/projection.ts";
import { toJson, toJsonValue, wholeToJson } from "../json/to_json.ts";
import { isModelClass } from "../schema/build_field.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { findPath, isJsonObject, type JsonObject } from "../schema/fields/json.ts";
import { isInexact } from "../schema/fields/json_numbers.ts";
import { describeShape, type Shape } from "../schema/fields/shape.ts";
import { loneSurrogateAt } from "../schema/fields/texts.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import { detachedModel } from "../schema/get_model.ts";
import { classOf } from "../schema/model_name.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { exactFilter } from "../schema/mongoose/statements/exact_filter.ts";
import { rawValues } from "../schema/mongoose/documents/document_values.ts";
import { spreadOf, withoutSpreads } from "../schema/mongoose/documents/mark_copies.ts";
import { markSaved, setStamping } from "../schema/mongoose/statements/save_by.ts";
import { issuePath, parseBySchema, SchemaIssues } from "../schema/standard_schema.ts";
import type { Source } from "../sources/source.ts";
import { instanceMaker } from "../sources/collection/instance_maker.ts";
import { attributeProblems } from "../write/attribute_problems.ts";
import { ComparedValues } from "../write/compared_values.ts";
import { inexactNumber } from "../write/body/cast_body.ts";
import { mergeBody } from "../write/body/merge_body.ts";
import { readBody } from "../write/body/read_body.ts";
import { readSnapshot, takeSnapshot, valuesToStore } from "../write/stored_values.ts";
import { checkAvailable } from "./available_actions.ts";
import { bindToVersion, toAnswer } from "./failures.ts";
import { fetchAnyway, type Fetched, fetchOne } from "./fetch.ts";
import { checkHookValues } from "./hook_values.ts";
import { missingReferences } from "./references.ts";
import { shownOf } from "./read.ts";
import { checkChangedIndexes } from "./request/check_request.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import type { TextAnswer } from "./request/answer.ts";
import { checkVersion, parentIdOf, versionIn } from "./request/versions.ts";
import { strictActionProblems } from "./strict_bodies.ts";
import { problemsIn } from "./write.ts";

export async function runAction(
  context: OpenLevelContext,
  action: ActionRecord,
): Promise<TextAnswer> {
  const { level: { operation, target }, timeBudget, req, source } = context;
  const entity = action.on === "one" ? await readActionEntity(context) : undefined;
  if (entity !== undefined) checkAvailable(context, { action, entity: entity.passed });
  const subject = entity?.passed ?? await selectionOf(source);
  const body = await readActionBody(context, action.body);
  // The hook `postFetch` may change fields for the answer only. `checkSaved()` does not demand that the action saves
  // these.
  const shown = new Set(isDocument(subject) ? subject.directModifiedPaths() : []);
  const run = action.run as (...args: unknown[]) => unknown;
  const work = runHook("run", () => run(req, subject, body));
  const result = await timeBudget.wait(Promise.resolve(work));
  if (result === null || result === undefined) return { kind: "text", status: 204 };
  if (typeof result === "object") checkHookValues(context, { hook: "run", entity: result });
  if (action.saves !== false) checkSaved(context, { result, subject, shown });
  if (action.answer === undefined || action.answer === target) {
    const isSubject = entity !== undefined && result === entity.passed;
    if (isSubject || isOfClass(result, target)) {
      const shown = isSubject ? entity.shown ?? await shownAs(context, result) : result;
      const version = (isSubject ? entity.version : versionIn(result, context)) ?? null;
      return {
        kind: "text",
        status: 200,
        text: wholeToJson(shown, shownOf(context)),
        version,
        parentId: parentIdOf(context, result),
      };
    }
    if (action.answer === undefined) {
      throw new TypeError(
        `Cannot answer: the action ${operation}() of "${target.name}" gave no entity, and declares no "answer"`,
      );
    }
  }
  const text = await writeAnswer(context, { type: action.answer, result });
  return { kind: "text", status: 200, text };
}

async function selectionOf(source: Source): Promise<ModelQuery<FrameworkModel> | undefined> {
  const query = await source.query?.();
  return query && { ...query, filter: exactFilter(query.filter) };
}

/** An answer must not show values that are not stored. */
function checkSaved(
  { level: { operation, target } }: OpenLevelContext,
  { result, subject, shown }: {
    readonly result: unknown;
    readonly subject: unknown;
    readonly shown: ReadonlySet<string>;
  },
): void {
  const isCopy = isDocument(subject) && spreadOf(Object(result))?.stored === rawValues(subject);
  const doc = isCopy ? subject : result;
  if (!isDocument(doc) || doc !== subject && !isOfClass(doc, target)) return;
  const values = new ComparedValues(doc);
  const changed = doc.directModifiedPaths().filter((path) =>
    (doc !== subject || !shown.has(path)) && values.changeOf(path) !== undefined
  );
  if (changed.length === 0 && !doc.isNew) return;
  const what = doc.isNew
    ? "a new entity that was not saved"
    : `the entity with changes that were not saved: ${changed.map((path) => `"${path}"`).join()}`;
  throw new TypeError(
    `Cannot answer: the action ${operation}() of "${target.name}" returned ${what}. Call save(), or declare the action with { saves: false }`,
  );
}

interface ActionEntity extends Pick<Fetched, "passed"> {
  version: Version | undefined;
  /** The saved entity, without the fields that reads leave out. */
  shown?: object | undefined;
}

async function readActionEntity(context: OpenLevelContext): Promise<ActionEntity> {
  const fetched = await fetchOne(context);
  checkVersion(context, fetched);
  const { passed, version } = fetched;
  const entity: ActionEntity = { passed, version };
  if (isDocument(passed)) bindSaves(context, { entity, doc: passed });
  return entity;
}

interface SaveOptions {
  readonly session?: ClientSession | null;
  readonly timestamps?: boolean;
}

/** With the scope and the known version as conditions, a `save()` overwrites no other change. */
function bindSaves(
  context: OpenLevelContext,
  { entity, doc }: { readonly entity: ActionEntity; readonly doc: Document },
): void {
  const { level: { versionKey, link, shape, target } } = context;
  readSnapshot(doc);
  attributeProblems(doc, { shape, target });
  let isFirst = true;
  const save = async ({ session, timestamps }: SaveOptions = {}) => {
    if (timestamps !== undefined) setStamping(doc, timestamps);
    if (session !== undefined) doc.$session(session);
    const { version: before } = entity;
    const version = versionKey === undefined || before === undefined
      ? undefined
      : hasOneOf(versionKey, [before]);
    const source = context.source.boundTo({ isFirst, version });
    const write = async () => {
      await checkChangedIndexes(context, [doc]);
      return await source.save(doc);
    };
    const saved = await bindToVersion(context, write).catch((error) => {
      throw toAnswer(error);
    });
    entity.shown = saved?.entity;
    isFirst = false;
    if (link?.embedded) {
      // Otherwise Mongoose would send the stored changes again.
      markSaved(doc);
      entity.version = saved?.version ?? (before ?? 0) + 1;
    } else entity.version = versionIn(doc, context);
    takeSnapshot(doc);
    return doc;
  };
  Object.defineProperty(doc, "save", { value: save, configurable: true, writable: true });
}

/**
 * The function of an action gets all fields. If a hook's projection leaves some out of answers, the entity is read
 * again for the answer.
 */
async function shownAs(context: OpenLevelContext, passed: object): Promise<object> {
  const { level: { hooks, shape }, state } = context;
  const selection = { projection: readProjection(state.projection, shape) };
  const isSame = hooks.fetch !== undefined || !isDocument(passed) ||
    !showsInPart({ selection, shape });
  return isSame ? passed : await fetchAnyway(context, { _id: passed._id }) ?? {};
}

export async function readActionBody(
  context: OpenLevelContext,
  type: ActionRecord["body"],
): Promise<unknown> {
  if (type === undefined) return undefined;
  const body = readBody(context.req, context.route.bodyLimits);
  if (isModelClass(type)) return await castBody(context, { type, body });
  const path = loneSurrogateAt(body);
  if (path !== undefined) {
    const message = `Text at "${path}" holds half of a surrogate pair`;
    throw badData({ [path]: { message, kind: "unicode" } });
  }
  const number = findPath(body, (value) => typeof value === "number" && isInexact(value));
  if (number !== undefined) throw badData({ [number]: inexactNumber(number, "number") });
  try {
    return await parseBySchema(type, body);
  } catch (error) {
    if (!(error instanceof SchemaIssues)) throw error;
    const problems = error.issues.map((issue) => {
      return [issuePath("", issue).replace(/^\./, ""), { message: issue.message, kind: "schema" }];
    });
    throw badData(Object.fromEntries(problems), error);
  }
}

async function castBody(
  context: OpenLevelContext,
  { type, body }: { readonly type: ModelClass; readonly body: JsonObject },
): Promise<object> {
  const shape = shapeFor(context, type);
  const doc = new (detachedModel(type))();
  const { problems, references } = mergeBody(doc, { body, shape });
  const missing = await missingReferences(context, references);
  const broken = await context.timeBudget.wait(problemsIn(doc, { shape }));
  const all = {
    ...broken,
    ...problems,
    ...strictActionProblems(context, { body, shape }),
    ...missing,
  };
  if (!isEmpty(all)) throw badData(all);
  const { _id, ...values } = valuesToStore(doc);
  const options = { shape, shows: () => true, prefix: "", populated: new Set<string>() };
  return instanceMaker(type, options)(values);
}

function shapeFor({ level: { rights } }: OpenLevelContext, type: ModelClass): Shape {
  return describeShape(buildSchema(type).schema, rights);
}

interface DocumentClass {
  readonly modelName?: string;
  /** Mongoose sets this name for documents of a discriminator. */
  readonly baseModelName?: string;
}

function isOfClass(result: unknown, target: ModelClass): result is object {
  if (!isDocument(result)) return false;
  const { modelName = "", baseModelName = modelName } = result.constructor as DocumentClass;
  const own = classOf(baseModelName.replace(/~embedded$/, ""));
  return own !== undefined && (own === target || own.prototype instanceof target);
}

async function writeAnswer(
  context: OpenLevelContext,
  { type, result }: { readonly type: DataType; readonly result: unknown },
): Promise<string> {
  try {
    if (!isModelClass(type)) return toJson(await parseBySchema(type, result));
    const shape = shapeFor(context, type);
    if (isOfClass(result, type)) return wholeToJson(result, { ...shownOf(context), shape });
    return await context.timeBudget.wait(castAnswer({ type, result }, shape));
  } catch (cause) {
    const { operation, target } = context.level;
    throw new TypeError(
      `Cannot answer: what the action ${operation}() of "${target.name}" gave does not fit its "answer"`,
      { cause },
    );
  }
}

/** A result that does not fit the class throws, because clients rely on its fields. */
async function castAnswer(
  { type, result }: { readonly type: ModelClass; readonly result: unknown },
  shape: Shape,
): Promise<string> {
  if (typeof result !== "object" || result === null || Array.isArray(result)) {
    throw new TypeError(`It is not an object`);
  }
  const values = (isDocument(result) ? result.toObject() : withoutSpreads({ ...result })) as object;
  const doc = new (detachedModel(type))(values);
  await doc.validate();
  return JSON.stringify(withoutNewIds(toJsonValue(doc, shape), values));
}

/** The cast gives nested objects identifiers that are stored nowhere, so the answer must not show them. */
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
