import { forbidden } from "../errors/refusals.ts";
import { toJson } from "../json/to_json.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { keepShown } from "../schema/mongoose/statements/find_kept.ts";
import { mergeBody } from "../write/body/merge_body.ts";
import { copyDocument, shownValues } from "../write/stored_values.ts";
import { validateEntity } from "../write/validate_entity.ts";
import { fetchOne } from "./fetch.ts";
import { missingReferences } from "./references/missing_references.ts";
import { passHook } from "./run_hooks.ts";
import type { HookArguments } from "./run_hooks.ts";
import {
  bindToVersion,
  checkVersion,
  holderOf,
  outerVersion,
  versionIn,
} from "./request/versions.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import { refuseBody } from "./refuse_body.ts";
import type { OpenLevel } from "./request/call.ts";
import type { Reply } from "./request/reply.ts";
import type { Level } from "./request/route.ts";

/** Creates or updates one entity: merge, `preSave`, the write, `preSend`. */
export async function write(acting: OpenLevel, body: JsonObject): Promise<Reply> {
  const { level, route: { operation: { origin, status } } } = acting;
  const fetched = await fetchOne(acting);
  const { seen } = fetched;
  if (origin !== "new") checkVersion(acting, fetched);
  const previous = origin === "new" ? undefined : snapshot(acting, seen);
  if (origin !== "new" && isDocument(seen)) keepShown(seen, shownValues);
  const { entity, problems, references } = mergeBody(seen, { body, shape: level.shape });
  const missing = await missingReferences(acting, references);
  if (problems !== undefined || missing !== undefined) {
    throw await refuseBody(acting, { body, entity, problems: { ...problems, ...missing } });
  }
  const ready = await passHook(acting, "preSave", { entity, previous });
  if (ready === undefined) throw forbidden();
  const saved = await bindToVersion(acting, () => persist(acting, { entity: ready, previous }));
  const version = writtenVersion(acting, { saved: saved ?? ready, ready });
  const sent = saved && await passHook(acting, "preSend", { entity: saved, previous });
  const created = status === 201 ? idOf(saved ?? ready, level) : undefined;
  const answer: Reply = sent === undefined ? { status: 204 } : {
    status,
    text: (sent === fetched.read.entity ? fetched.read.json?.() : undefined) ??
      toJson(sent, level.shape),
    version,
    holder: holderOf(acting, saved ?? ready),
  };
  return created === undefined ? answer : { ...answer, created };
}

/** The version after a write. What is embedded was written at the latest into the version after the one that was read. */
function writtenVersion(
  acting: OpenLevel,
  { saved, ready }: { readonly saved: object; readonly ready: object },
): Version {
  const outer = outerVersion(acting);
  if (outer !== undefined) return (outer ?? 0) + 1;
  return versionIn(saved, acting) ?? versionIn(ready, acting) ?? null;
}

/** The entity before the merge, for hooks that get it. */
function snapshot({ level: { hooks } }: OpenLevel, entity: object): object | undefined {
  const { preSave, persist, preSend } = hooks;
  if (preSave === undefined && persist === undefined && preSend === undefined) return undefined;
  return isDocument(entity) ? copyDocument(entity) : entity;
}

async function persist(acting: OpenLevel, given: HookArguments): Promise<object | undefined> {
  const { level, source, timeBudget } = acting;
  const { entity } = given;
  if (level.hooks.persist === undefined) return await source.save(entity);
  await timeBudget.wait(validateEntity(entity, level));
  return await timeBudget.wait(Promise.resolve(passHook(acting, "persist", given)));
}

/** What names a new entity below the path it was created at; empty where the parent holds only one. */
function idOf(entity: object, { parameter }: Level): string | undefined {
  if (parameter === undefined) return "";
  const { _id } = entity as { _id?: unknown };
  return _id === undefined || _id === null ? undefined : String(_id);
}
