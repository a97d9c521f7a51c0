import mongoose, { type Document } from "mongoose";
import { problemsOf } from "../store/failure_of.ts";
import { TurnPacer } from "../errors/event_loop.ts";
import { badData, forbidden, type Problems } from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import { isEmpty, topOf } from "../filter/filters.ts";
import { toJson, wholeToJson } from "../json/to_json.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { dropMiddleware } from "../schema/mongoose/schemas/schema_members.ts";
import { savesOf } from "../schema/mongoose/statements/save_by.ts";
import { validationFailure } from "../schema/mongoose/errors.ts";
import { attributeProblems } from "../write/attribute_problems.ts";
import { mergeBody, type Merged } from "../write/body/merge_body.ts";
import { factsOf } from "../write/document_facts.ts";
import { copyDocument, readSnapshot } from "../write/stored_values.ts";
import { bindToVersion } from "./failures.ts";
import type { Fetched } from "./fetch.ts";
import { writeFetched } from "./asked_hook.ts";
import { mapAll } from "../sources/lists/map_in_order.ts";
import { missingReferences } from "./references.ts";
import { shownOf } from "./read.ts";
import { persistOne } from "./persist.ts";
import type { LevelContext, OpenLevelContext } from "./request/request_context.ts";
import { isMinimal } from "./request/preferences.ts";
import type { TextAnswer } from "./request/answer.ts";
import type { Level } from "./request/route.ts";
import {
  checkPresence,
  checkVersion,
  outerVersion,
  outerVersionAfter,
  parentIdOf,
  versionIn,
} from "./request/versions.ts";
import { type HookArguments, passHook, passHookAfterWrite } from "./pass_hooks.ts";
import { boundToBody, strictProblems } from "./strict_bodies.ts";
import { validateDocument } from "../schema/mongoose/documents/validate_document.ts";

export interface Draft extends Merged {
  readonly body: JsonObject;
  /** Begins paths in error messages, as in `2.` for the third entity. */
  readonly at: string;
  readonly previous?: object | undefined;
  readonly isNew: boolean;
}

export async function write(context: OpenLevelContext, body: JsonObject): Promise<TextAnswer> {
  return await writeFetched(context, (fetched) => writeOnce(context, { body, fetched }));
}

export async function writeOnce(
  context: OpenLevelContext,
  given: { readonly body: JsonObject; readonly fetched: Fetched },
): Promise<TextAnswer> {
  return await saveDraft(context, makeDraft(context, given));
}

export async function changeEntity(
  context: OpenLevelContext,
  change: (entity: Document) => Promise<Merged["references"]>,
): Promise<TextAnswer> {
  return await writeFetched(context, async (fetched) => {
    checkVersion(context, fetched);
    return await saveDraft(context, await changedDraft(context, { ...fetched, change }));
  });
}

async function changedDraft(
  context: OpenLevelContext,
  { passed, change }: Fetched & { readonly change: Parameters<typeof changeEntity>[1] },
): Promise<Draft> {
  const { level: { shape, target, operation } } = context;
  if (!isDocument(passed)) {
    throw new TypeError(
      `Cannot run ${operation}() of "${target.name}": a hook gave no document of its entity`,
    );
  }
  const previous = snapshot(context, passed);
  readSnapshot(passed);
  attributeProblems(passed, { shape, target });
  const references = await change(passed);
  return { entity: passed, references, body: {}, at: "", previous, isNew: false };
}

async function saveDraft(context: OpenLevelContext, draft: Draft): Promise<TextAnswer> {
  const { level, claim } = context;
  await refuseProblems(context, [draft]);
  const { previous, isNew, body } = draft;
  const ready = await passPreSave(context, draft);
  await claim?.keep([ready]);
  const saved = await bindToVersion(
    context,
    () => persistOne(isNew ? context : boundToBody(context, body), { entity: ready, previous }),
  );
  const written = saved?.entity ?? ready;
  const outer = outerVersionAfter(context);
  // The idempotency key stores the identifier, which the result of `persist` may lack.
  await claim?.finish([ready]);
  return await answerWritten(context, {
    entity: saved && await passAgain(context, saved.entity),
    previous,
    isNew,
    parentId: parentIdOf(context, written),
    version: outer === undefined
      ? versionIn(written, context) ?? versionIn(ready, context) ?? null
      : saved?.version ?? outer,
    created: isNew ? createdId(written, level) : undefined,
  });
}

/**
 * Another request has changed the entity since `postFetch` allowed it, so the hook decides again. If a parent has this
 * hook, the answer shows no entity, because the parent would have to be read too.
 */
async function passAgain(context: OpenLevelContext, entity: object): Promise<object | undefined> {
  if (!factsOf(entity).isChangedByOthers) return entity;
  for (let { level, above }: LevelContext = context; level.link?.embedded && above;) {
    ({ level, above } = above);
    if (level.hooks.postFetch !== undefined) return undefined;
  }
  try {
    return await passHookAfterWrite(context, "postFetch", { entity });
  } catch (error) {
    if (error instanceof RestError) return undefined;
    throw error;
  }
}

interface Written {
  readonly entity: object | undefined;
  readonly previous?: object | undefined;
  readonly isNew: boolean;
  readonly version: Version;
  readonly parentId: string | undefined;
  readonly created: string | undefined;
}

export async function answerWritten(
  context: OpenLevelContext,
  { entity, previous, isNew, version, parentId, created }: Written,
): Promise<TextAnswer> {
  const saves = entity && savesOf(entity);
  const sent = entity && await passHookAfterWrite(context, "preSend", { entity, previous });
  // If a `preSend` hook has saved the entity, the answer needs its new version. Embedded entities have none.
  const isSame = entity === undefined || savesOf(entity) === saves ||
    outerVersion(context) !== undefined;
  const answer: TextAnswer = sent === undefined ? { kind: "text", status: 204 } : {
    kind: "text",
    status: isNew ? 201 : context.route.operation.status,
    ...!isMinimal(context) && { text: wholeToJson(sent, shownOf(context)) },
    version: isSame ? version : versionIn(entity, context) ?? version,
    parentId,
  };
  return { ...answer, ...created !== undefined && { created } };
}

export async function answerCreated(
  context: OpenLevelContext,
  saved: readonly object[],
): Promise<TextAnswer> {
  const sent = await mapAll(saved, (entity) => passHookAfterWrite(context, "preSend", { entity }));
  if (isMinimal(context)) return { kind: "text", status: 201 };
  const texts = await mapAll(sent, (each) => toJson(each, context.level.shape));
  return { kind: "text", status: 201, text: `[${texts.join()}]` };
}

function makeDraft(
  context: OpenLevelContext,
  { body, fetched }: { readonly body: JsonObject; readonly fetched: Fetched },
): Draft {
  const { route: { operation: { origin } } } = context;
  const { entity, passed } = fetched;
  const isNew = origin === "new" || origin === "byKey" && isDocument(entity) && entity.isNew;
  if (origin === "byKey") checkPresence(context, !isNew);
  if (!isNew) checkVersion(context, fetched);
  return mergeDraft(context, passed, { body, at: "", isNew });
}

export function mergeDraft(
  context: OpenLevelContext,
  passed: object,
  { body, at, isNew }: Pick<Draft, "body" | "at" | "isNew">,
): Draft {
  const { level: { shape, target }, route: { operation: { change } } } = context;
  const replaces = change === "replace" && !isNew;
  const previous = isNew ? undefined : snapshot(context, passed);
  if (!isNew && isDocument(passed)) readSnapshot(passed);
  const strict = strictProblems(context, { body, ...!isNew && { passed } });
  const { problems, ...merged } = mergeBody(passed, { body, shape, isNew, replaces });
  if (isDocument(merged.entity)) attributeProblems(merged.entity, { shape, target, body });
  const all = { ...problems, ...strict };
  return { ...merged, ...!isEmpty(all) && { problems: all }, body, at, previous, isNew };
}

/** All errors are collected, so that a form can show them at once. */
export async function refuseProblems(
  context: OpenLevelContext,
  drafts: readonly Draft[],
  others: Problems = {},
): Promise<void> {
  const references = drafts.flatMap(({ references, at }) =>
    references.map((each) => ({ ...each, key: at + each.path }))
  );
  const missing = await missingReferences(context, references);
  const isRight = missing === undefined && Object.keys(others).length === 0;
  if (isRight && drafts.every(({ problems }) => problems === undefined)) return;
  const found = { ...others };
  const pacer = new TurnPacer();
  for (const draft of drafts) {
    if (pacer.isDue) await pacer.rest();
    const own = Object.entries({ ...await draftProblems(context, draft), ...draft.problems });
    Object.assign(found, Object.fromEntries(own.map(([path, each]) => [draft.at + path, each])));
  }
  throw badData({ ...found, ...missing });
}

export async function refusalsOf(
  context: OpenLevelContext,
  drafts: readonly Draft[],
): Promise<ReadonlyMap<Draft, RestError>> {
  const references = drafts.flatMap(({ references }, index) =>
    references.map((each) => ({ ...each, key: `${index}.${each.path}` }))
  );
  const missing = await missingReferences(context, references) ?? {};
  const problems = drafts.map((draft) => ({ ...draft.problems }));
  for (const [key, problem] of Object.entries(missing)) {
    const [index = ""] = key.split(".", 1);
    Object.assign(problems[Number(index)] ?? {}, { [key.slice(index.length + 1)]: problem });
  }
  const refusals = new Map<Draft, RestError>();
  const pacer = new TurnPacer();
  for (const [index, draft] of drafts.entries()) {
    if (Object.keys(problems[index] ?? {}).length === 0) continue;
    if (pacer.isDue) await pacer.rest();
    const broken = await draftProblems(context, draft);
    refusals.set(draft, badData({ ...broken, ...problems[index] }));
  }
  return refusals;
}

export async function passPreSave(
  context: OpenLevelContext,
  given: HookArguments & { readonly body?: JsonObject },
): Promise<object> {
  const { level: { shape, target } } = context;
  const ready = await passHook(context, "preSave", given);
  if (ready === undefined) throw forbidden();
  if (ready !== given.entity && isDocument(ready)) {
    attributeProblems(ready, { shape, target, body: given.body });
  }
  return ready;
}

function snapshot({ level: { hooks } }: OpenLevelContext, entity: object): object | undefined {
  const { preSave, persist, preSend } = hooks;
  if (preSave === undefined && persist === undefined && preSend === undefined) return undefined;
  return isDocument(entity) ? copyDocument(entity) : entity;
}

export function createdId(entity: object, { parameter }: Level): string | undefined {
  if (parameter === undefined) return "";
  const { _id } = entity as { _id?: unknown };
  return _id === undefined || _id === null ? undefined : String(_id);
}

/** An error of a field outside of the body counts only if the entity must be complete. */
async function draftProblems(
  { level: { shape, hooks, traits }, timeBudget }: OpenLevelContext,
  { body, entity }: Draft,
): Promise<Problems | undefined> {
  if (!isDocument(entity)) return undefined;
  // A `preSave` hook may set missing fields.
  const isComplete = (entity.isNew || traits.change === "replace") && hooks.preSave === undefined;
  const counts = (path: string) => isComplete || Object.hasOwn(body, topOf(path));
  return await timeBudget.wait(problemsIn(entity, { shape, counts }));
}

/**
 * Removes all middleware of `doc`, which must not be saved afterwards. If a validator cannot decide, as without a
 * database, its error is thrown.
 */
export async function problemsIn(
  doc: Document,
  { shape, counts = () => true }: {
    readonly shape: Shape;
    readonly counts?: (path: string) => boolean;
  },
): Promise<Problems | undefined> {
  dropMiddleware(doc);
  try {
    await validateDocument(doc);
    return undefined;
  } catch (error) {
    if (!(error instanceof mongoose.Error.ValidationError)) throw error;
    for (const path of Object.keys(error.errors)) {
      if (!counts(path)) Reflect.deleteProperty(error.errors, path);
    }
    if (validationFailure(error) !== undefined) throw error;
    return problemsOf(error, (path) => isHiddenPath(path, shape));
  }
}
