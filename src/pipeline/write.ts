import { toJson } from "../json/to_json.ts";
import { mergeBody } from "../write/body/merge_body.ts";
import { mergePlain } from "../write/body/merge_plain.ts";
import { forbidden, notFound } from "../errors/refusals.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import type { Source } from "../sources/source.ts";
import { copyDocument } from "../write/copy_document.ts";
import { validatePlain } from "../write/validate_plain.ts";
import { rememberShape } from "../schema/fields/shape_of_instance.ts";
import type { Call } from "./request/call.ts";
import { entityName, fetchOne } from "./fetch.ts";
import { hasEntityHooks, passHook } from "./guard.ts";
import type { Reply } from "./request/reply.ts";

/** Creates or updates one entity: merge, `preSave`, the write, `preSend`. */
export async function write(call: Call, source: Source, body: JsonObject): Promise<Reply> {
  const { shape } = call.acting.level;
  const reply = hasEntityHooks(call.acting.level)
    ? undefined
    : await writeAtOnce(call, source, body);
  if (reply !== undefined) return reply;
  const { seen: entity } = await fetchOne(call, call.acting, source);
  const previous = call.route.operation.fetch === "fresh" ? undefined : snapshot(call, entity);
  const merged = merge(entity, body, call);
  const ready = await passHook(call, "preSave", merged, { previous });
  if (ready === undefined) throw forbidden();
  const saved = await persist(call, source, ready, previous);
  const sent = saved && await passHook(call, "preSend", saved, { previous });
  const created = call.route.operation.status === 201 ? nameOf(call, saved ?? ready) : undefined;
  const answer: Reply = sent === undefined
    ? { status: 204 }
    : { status: call.route.operation.status, text: toJson(sent, shape) };
  return created === undefined ? answer : { ...answer, created };
}

/** Writes in one statement, which takes no document; `undefined` where the source says that it does. */
async function writeAtOnce(
  call: Call,
  source: Source,
  body: JsonObject,
): Promise<Reply | undefined> {
  if (call.route.operation.fetch === "fresh") {
    const inserted = await source.insert?.(body);
    return inserted && { status: 201, text: inserted.text, created: inserted.id };
  }
  const text = await source.patch?.(entityName(call, call.acting), body);
  if (text === null) throw notFound();
  return text === undefined ? undefined : { status: 200, text };
}

/** The entity before the merge, for the hooks that may ask for it. */
function snapshot(call: Call, entity: object): object | undefined {
  const { preSave, persist, preSend } = call.acting.level.hooks;
  if (preSave === undefined && persist === undefined && preSend === undefined) return undefined;
  return isDocument(entity) ? copyDocument(entity) : entity;
}

function merge(entity: object, body: JsonObject, { acting }: Call): object {
  const { shape } = acting.level;
  if (!isDocument(entity)) return rememberShape(mergePlain(entity, body, shape), shape);
  mergeBody(entity, body, shape);
  return entity;
}

async function persist(
  call: Call,
  source: Source,
  entity: object,
  previous?: object,
): Promise<object | undefined> {
  const { hooks, target, shape } = call.acting.level;
  if (hooks.persist === undefined) return await source.save(entity);
  const valid = isDocument(entity) ? entity.validate() : validatePlain(entity, target, shape);
  await call.patience.wait(valid);
  return await call.patience.wait(
    Promise.resolve(passHook(call, "persist", entity, { previous })),
  );
}

/** What names a new entity below the path it was created at; nothing does where the parent holds only one. */
function nameOf({ acting }: Call, entity: object): string | undefined {
  if (acting.level.parameter === undefined) return "";
  const { _id } = entity as { _id?: unknown };
  return _id === undefined || _id === null ? undefined : String(_id);
}
