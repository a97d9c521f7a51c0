import type { ClientSession, Document } from "mongoose";
import type { ActionRecord } from "../declare/operations/action.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { isNarrowed, readProjection } from "../filter/projection.ts";
import { hasOneOf } from "../filter/versions.ts";
import { toJson } from "../json/to_json.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { forgetAllChanges } from "../schema/mongoose/documents/document_values.ts";
import { keepSaved, keptValues } from "../write/stored_values.ts";
import { isOfClass, readActionBody, writeAnswer } from "./action_data.ts";
import { fetchAnyway, fetchOne } from "./fetch.ts";
import type { Fetched } from "./fetch.ts";
import type { OpenLevel } from "./request/call.ts";
import type { Reply } from "./request/reply.ts";
import { bindToVersion, checkVersion, holderOf, versionIn } from "./request/versions.ts";

/** Runs an action: on the entity as an update would get it, or on the query of all that is selected. */
export async function runAction(acting: OpenLevel, action: ActionRecord): Promise<Reply> {
  const entity = action.on === "one" ? await openEntity(acting) : undefined;
  const subject = entity?.seen ?? await acting.source.query?.();
  const body = await readActionBody(acting, action.body);
  const run = action.run as (...args: unknown[]) => unknown;
  const work = runHook("run", () => run(acting.req, subject, body), {
    ...entity && { entity: entity.seen },
  });
  const result = await acting.timeBudget.wait(Promise.resolve(work));
  if (result === null || result === undefined) return { status: 204 };
  const { target } = acting.level;
  if (action.answer === undefined || action.answer === target) {
    if (result === entity?.seen) {
      const shown = entity.shown ?? await shownAs(acting, result);
      return answer(acting, { entity: result, shown, version: entity.version });
    }
    if (isOfClass(result, target)) {
      return answer(acting, { entity: result, shown: result, version: versionIn(result, acting) });
    }
    if (action.answer === undefined) {
      throw new TypeError(
        `Cannot answer: the action ${acting.level.operation}() of "${target.name}" gave no entity, and declares no "answer"`,
      );
    }
  }
  return { status: 200, text: await writeAnswer(acting, { type: action.answer, result }) };
}

interface ActionEntity extends Pick<Fetched, "seen"> {
  /** The version that it has now; `undefined` if it was read without. */
  version: Version | undefined;
  /** As its last save shows it: what a read leaves out is not in it. */
  shown?: object;
}

async function openEntity(acting: OpenLevel): Promise<ActionEntity> {
  const fetched = await fetchOne(acting);
  checkVersion(acting, fetched);
  const { seen, version } = fetched;
  const entity: ActionEntity = { seen, version };
  if (isDocument(seen)) bindSaves(acting, { entity, doc: seen });
  return entity;
}

interface DocumentEntity {
  readonly entity: ActionEntity;
  readonly doc: Document;
}

/** Has `save()` of a document write as an update does: bound to the scope, and each time to the version before. */
function bindSaves(acting: OpenLevel, { entity, doc }: DocumentEntity): void {
  keptValues(doc);
  let isFirst = true;
  const save = async (options?: { readonly session?: ClientSession | null }) => {
    if (options?.session !== undefined) doc.$session(options.session);
    const source = acting.source.boundTo({ isFirst, version: versionFilter(acting, entity) });
    entity.shown = await bindToVersion(acting, () => source.save(doc));
    isFirst = false;
    entity.version = savedVersion(acting, { entity, doc });
    keepSaved(doc);
    return doc;
  };
  Object.defineProperty(doc, "save", { value: save, configurable: true, writable: true });
}

function versionFilter({ level: { versionKey } }: OpenLevel, { version }: ActionEntity) {
  return versionKey === undefined || version === undefined
    ? undefined
    : hasOneOf(versionKey, [version]);
}

/** The version after a save. What is embedded is in the next version of the document around it. */
function savedVersion(
  acting: OpenLevel,
  { entity: { version }, doc }: DocumentEntity,
): Version | undefined {
  if (acting.level.link?.embedded !== true) return versionIn(doc, acting);
  // Mongoose has not written it, and would send its changes again.
  forgetAllChanges(doc);
  return (version ?? 0) + 1;
}

/** Reads an entity again that was read whole, where its reader may not see all of it. */
async function shownAs(acting: OpenLevel, seen: object): Promise<object> {
  const { level: { hooks, shape }, state } = acting;
  const projection = readProjection(state.projection, shape);
  if (
    hooks.fetch !== undefined || !isDocument(seen) ||
    !isNarrowed({ selection: { projection }, shape })
  ) {
    return seen;
  }
  return await fetchAnyway(acting, { _id: seen._id }) ?? {};
}

interface Answered {
  readonly entity: object;
  readonly shown: object;
  readonly version: Version | undefined;
}

function answer(acting: OpenLevel, { entity, shown, version = null }: Answered): Reply {
  const text = toJson(shown, acting.level.shape);
  return { status: 200, text, version, holder: holderOf(acting, entity) };
}
