import { throwOnly } from "../errors/bulk_error.ts";
import { badData } from "../errors/refusals.ts";
import { isEmpty } from "../filter/filters.ts";
import { toJson } from "../json/to_json.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { mergeBody } from "../write/body/merge_body.ts";
import { selectEntities } from "./fetch.ts";
import { itemError } from "./lists/item_results.ts";
import { mapAll } from "../sources/lists/map_in_order.ts";
import { removeMany } from "./remove.ts";
import { checkChangedIndexes } from "./request/check_request.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import { readMaxAffected } from "./request/preferences.ts";
import type { TextAnswer } from "./request/answer.ts";
import { performWrite } from "./perform_write.ts";
import { type Draft, mergeDraft, passPreSave, refuseProblems } from "./write.ts";
import { persistEach, persistOne } from "./persist.ts";
import { certainProblems, strictProblems } from "./strict_bodies.ts";

export async function changeAll(
  context: OpenLevelContext,
  body: JsonObject | undefined,
): Promise<TextAnswer> {
  const { req, level: { writes } } = context;
  const maxAffected = readMaxAffected(req);
  const limit = Math.min(writes?.max ?? Infinity, maxAffected ?? Infinity);
  const answer = body === undefined
    ? await removeAll(context, limit)
    : await updateAll(context, { body, limit });
  if (maxAffected === undefined) return answer;
  return { ...answer, headers: { "Preference-Applied": `max-affected=${maxAffected}` } };
}

async function removeAll(context: OpenLevelContext, limit: number): Promise<TextAnswer> {
  const direct = await performWrite(context, { limit });
  const affected = direct === undefined ? await removeMany(context, limit) : direct.affected;
  return { kind: "text", status: 204, affected };
}

async function updateAll(
  context: OpenLevelContext,
  { body, limit }: { readonly body: JsonObject; readonly limit: number },
): Promise<TextAnswer> {
  const { source, level: { writes, link, shape } } = context;
  checkFields(context, body);
  // MongoDB writes a document as a whole, so its embedded entities change all or none.
  const isAtomic = writes?.atomic !== false || link?.embedded === true;
  const direct = isAtomic ? await performWrite(context, { body, limit }) : undefined;
  if (direct?.affected !== undefined) return answerOfCounts(direct.affected);
  const passed = await selectEntities(context, limit);
  const drafts = await mapAll(
    passed,
    (entity) => mergeDraft(context, entity, { body, at: "", isNew: false }),
  );
  if (drafts.length === 0) {
    // If the filter matches no entity, wrong values in the body must still be a 400.
    const { problems } = mergeBody(await source.newEntity(), { body, shape });
    const all = { ...problems, ...strictProblems(context, { body }) };
    if (!isEmpty(all)) throw badData(all);
  }
  await refuseProblems(context, drafts);
  if (!isAtomic) return await updateEach(context, drafts);
  // All entities get the same body, so the first error stands for all, without an index.
  await updateAtomically(context, drafts).catch(throwOnly);
  return answerOfCounts(drafts.length);
}

function checkFields(context: OpenLevelContext, body: JsonObject): void {
  const { writes, shape } = context.level;
  // A field that is hidden from this client gets the error of an unknown field, or else the error would show that it
  // exists.
  const isUnknown = (name: string) => {
    const field = shape.fields.get(name);
    return writes?.fields?.has(name) !== true || field?.hidden === true && field.readonly;
  };
  const others = Object.keys(body).filter(isUnknown);
  if (others.length === 0) return;
  const problems = others.map((name) => {
    return [name, { message: `Field "${name}" cannot be set for many`, kind: "fields" }];
  });
  const strict = certainProblems(context, { body, keys: others });
  throw badData({ ...Object.fromEntries(problems), ...strict });
}

/** A refused entity prevents all writes, so all entities pass their hooks first. */
async function updateAtomically(
  context: OpenLevelContext,
  drafts: readonly Draft[],
): Promise<void> {
  const { source, level: { hooks } } = context;
  const ready = await mapAll(drafts, (draft) => passPreSave(context, draft));
  if (hooks.persist === undefined) {
    await checkChangedIndexes(context, ready);
    return await source.updateAll(ready);
  }
  const given = ready.map((entity, at) => ({ entity, previous: drafts[at]?.previous }));
  await persistEach(context, given);
}

/** With the error of each unwritten entity, the client can repeat only these. */
async function updateEach(
  context: OpenLevelContext,
  drafts: readonly Draft[],
): Promise<TextAnswer> {
  const failed: object[] = [];
  for (const draft of drafts) {
    const { _id } = draft.entity as { readonly _id?: unknown };
    try {
      const entity = await passPreSave(context, draft);
      await persistOne(context, { entity, previous: draft.previous });
    } catch (error) {
      failed.push({ _id, ...await itemError(context, error) });
    }
  }
  return answerOfCounts(drafts.length, failed);
}

function answerOfCounts(matched: number, failed: readonly object[] = []): TextAnswer {
  const modified = matched - failed.length;
  if (failed.length === 0) {
    return { kind: "text", status: 200, text: toJson({ matched, modified }) };
  }
  return { kind: "text", status: 207, text: toJson({ matched, modified, failed }) };
}
