import type { Document, Model } from "mongoose";
import { badParameter, notFound } from "../../errors/refusals.ts";
import { wholeToJson } from "../../json/to_json.ts";
import { queryOf } from "../../filter/query_string.ts";
import { fetchOne } from "../../pipeline/fetch.ts";
import { passHook } from "../../pipeline/pass_hooks.ts";
import { passReadHooks, shownOf } from "../../pipeline/read.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { pathOf, type Reply } from "../../pipeline/request/reply.ts";
import { copyJson, isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { strictestField, whyUnseen } from "../../schema/fields/visibility.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import { readSnapshot, type StoredObject } from "../../write/stored_values.ts";
import { historyOf, type HistoryRecord } from "./history_collection.ts";

const MAX_RECORDS = 100;
const USUAL_RECORDS = 20;

/** The parameters of a page of records, with the texts of the errors about them. */
export const HISTORY_PAGE = {
  limit: `a whole number from 1 to ${MAX_RECORDS}`,
  after: "a version",
} as const;

/**
 * Answers with the records of an entity, newest first. The hooks of `one()` guard the entity. Each record passes the
 * hooks as the entity with the values of the record, so that a record shows no value that the hooks hide.
 */
export async function readHistory(context: OpenLevelContext): Promise<Reply> {
  const { limit, after } = readPage(context.req);
  const { entity, seen } = await fetchOne(context);
  if (!isDocument(entity)) throw notFound();
  const current = readSnapshot(entity).values;
  if (await passHook(context, "preSend", { entity: seen }) === undefined) throw notFound();
  const records = await recordsOf(context, { id: current._id, limit: limit + 1, after });
  const shown = records.slice(0, limit);
  const list: object[] = [];
  for (const record of shown) list.push(await recordFor(context, { record, current }));
  const last = records.length > limit ? shown.at(-1) : undefined;
  return {
    status: 200,
    text: JSON.stringify(list),
    ...last && { headers: { Link: nextLink(context.req, { limit, after: last.version }) } },
  };
}

interface HistoryPage {
  readonly limit: number;
  readonly after?: number | undefined;
}

function readPage({ url }: FrameworkRequest): HistoryPage {
  const given = new URLSearchParams(queryOf(url));
  const read = (name: keyof typeof HISTORY_PAGE, to: number): number | undefined => {
    const [text, ...others] = given.getAll(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    const isInRange = number >= (name === "limit" ? 1 : 0) && number <= to;
    if (others.length > 0 || !/^\d{1,16}$/.test(text) || !isInRange) {
      throw badParameter(name, HISTORY_PAGE[name]);
    }
    return number;
  };
  return {
    limit: read("limit", MAX_RECORDS) ?? USUAL_RECORDS,
    after: read("after", Number.MAX_SAFE_INTEGER),
  };
}

function nextLink(req: FrameworkRequest, page: Required<HistoryPage>): string {
  const parameters = new URLSearchParams(queryOf(req.url));
  for (const [name, value] of Object.entries(page)) parameters.set(name, String(value));
  return `<${pathOf(req).replace(/[<>"\s]/g, encodeURIComponent)}?${parameters}>; rel="next"`;
}

/** The options of a read of records. The primary has the records of every version of the entity that was read. */
const FROM_PRIMARY = { readPreference: "primary" } as const;

interface RecordQuery {
  readonly id: unknown;
  readonly limit: number;
  readonly after?: number | undefined;
}

/** Reads the records of an entity, newest first. With `after`, reads only the records of lower versions. */
async function recordsOf(
  context: OpenLevelContext,
  { id, limit, after }: RecordQuery,
): Promise<HistoryRecord[]> {
  const model = await context.model();
  const { maxTimeMS } = context.route;
  const filter = {
    ...await ofPresentLife(context, id),
    ...after !== undefined && { version: { $lt: after } },
  };
  const cursor = historyOf(model).find(filter, { ...FROM_PRIMARY, maxTimeMS, limit })
    .sort({ version: -1 });
  return await context.timeBudget.wait(cursor.toArray());
}

/**
 * Returns the filter for the records of an entity since its creation. An entity with the same identifier may have been
 * removed before, and its records belong to no reader of the present entity.
 */
export async function ofPresentLife(
  { model, route: { maxTimeMS }, timeBudget }: OpenLevelContext,
  entity: unknown,
): Promise<StoredObject> {
  const history = historyOf(await model());
  const created = { entity, version: 0 };
  const options = { ...FROM_PRIMARY, maxTimeMS, sort: { at: -1 } } as const;
  const found = await timeBudget.wait(history.findOne(created as never, options));
  return found === null ? { entity } : { entity, at: { $gte: found.at } };
}

/** Returns a record as the reader of a request may see it, with the values that the hooks of the request show. */
async function recordFor(
  context: OpenLevelContext,
  { record, current }: { readonly record: HistoryRecord; readonly current: StoredObject },
): Promise<object> {
  const { version, at, actor, operation, changed, before } = record;
  const { shape } = context.level;
  const model = await context.model();
  const { updatedAt } = stampFields(model.schema);
  const isSeen = (name: string) =>
    name !== updatedAt && whyUnseen(strictestField(name, shape)) === undefined;
  const shown = await shownWith(context, { model, values: valuesBefore(current, record) });
  const names = shown === undefined
    ? []
    : changed.filter(isSeen).filter((name) =>
      !Object.hasOwn(before, name) || Object.hasOwn(shown, name)
    );
  const values = names.filter((name) => Object.hasOwn(before, name));
  return {
    version,
    at,
    ...actor !== undefined && { actor },
    operation,
    changed: names,
    before: Object.fromEntries(values.map((name) => [name, shown?.[name]])),
  };
}

/** Returns the values of an entity with the values that a record has replaced. */
export function valuesBefore(
  values: StoredObject,
  { changed, before }: Pick<HistoryRecord, "changed" | "before">,
): StoredObject {
  const names = new Set(changed);
  const others = Object.entries(values).filter(([name]) => !names.has(name));
  return Object.fromEntries([...others, ...Object.entries(before)]);
}

/** Returns the JSON that the hooks of a request show of an entity. Returns `undefined` if the hooks hide the entity. */
async function shownWith(
  context: OpenLevelContext,
  { model, values }: { readonly model: Model<unknown>; readonly values: StoredObject },
): Promise<JsonObject | undefined> {
  const doc = model.hydrate(copyJson(values)) as Document;
  const sent = await passReadHooks(context, doc);
  if (sent === undefined) return undefined;
  const json: unknown = JSON.parse(wholeToJson(sent, shownOf(context)));
  return isJsonObject(json) ? json : undefined;
}
