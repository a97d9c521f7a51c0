import { badParameter, notFound } from "../../errors/refusals.ts";
import { TurnPacer } from "../../errors/event_loop.ts";
import { queryOf } from "../../filter/query_string.ts";
import { fetchOne } from "../../pipeline/fetch.ts";
import type { ParameterFacts } from "../../pipeline/description.ts";
import { passHook } from "../../pipeline/pass_hooks.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { linkUrl } from "../../pipeline/request/link_url.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { readSnapshot } from "../../write/stored_values.ts";
import { eachRecord, valuesBefore } from "./read_records.ts";
import {
  hasReadHooks,
  jsonOf,
  type RecordContext,
  type ShownRecord,
  showRecord,
} from "./show_records.ts";
import { type ActorNames, askNames } from "../../pipeline/actor_names.ts";

const MAX_RECORDS = 100;
const USUAL_RECORDS = 20;

/** Bounds the memory for a page of large entities. */
const PAGE_BYTES = 4 * 1024 * 1024;

export const HISTORY_PAGE = {
  limit: {
    text: "The maximum number of records in a page.",
    default: USUAL_RECORDS,
    maximum: MAX_RECORDS,
    schema: { type: "integer", minimum: 1, maximum: MAX_RECORDS, default: USUAL_RECORDS },
  },
  after: {
    text: "The version before which the page begins, from `Link`.",
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
  names: {
    text: "Adds the names of senders that the application knows.",
    schema: { type: "boolean" },
  },
} as const satisfies Record<string, ParameterFacts>;

const ALLOWED = {
  limit: `a whole number from 1 to ${MAX_RECORDS}`,
  after: "a version",
} as const;

/** Hooks of `one()` also hide values of earlier versions. */
export async function readHistory(context: OpenLevelContext): Promise<TextAnswer> {
  const { limit, after } = readPage(context.req);
  const isNamed = readNames(context.req);
  const { entity, passed } = await fetchOne(context);
  if (!isDocument(entity)) throw notFound();
  const { values: current } = readSnapshot(entity);
  const sent = await passHook(context, "preSend", { entity: passed });
  if (sent === undefined) throw notFound();
  const shown = {
    context,
    model: await context.model(),
    entity,
    current,
    currentJson: jsonOf(context, sent),
    pacer: new TurnPacer(),
  };
  const { list, hasMore } = await showPage(shown, { limit, after });
  const last = hasMore ? list.at(-1) : undefined;
  return {
    kind: "text",
    status: 200,
    text: JSON.stringify(isNamed ? await withNames(context, list) : list),
    ...last && { headers: { Link: nextLink(context.req, { limit, after: last.version }) } },
  };
}

interface HistoryPage {
  readonly limit: number;
  readonly after?: number | undefined;
}

function readPage({ url }: FrameworkRequest): HistoryPage {
  const given = new URLSearchParams(queryOf(url));
  const read = (name: keyof typeof ALLOWED, to: number): number | undefined => {
    const [text, ...others] = given.getAll(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    const isInRange = number >= (name === "limit" ? 1 : 0) && number <= to;
    if (others.length > 0 || !/^\d{1,16}$/.test(text) || !isInRange) {
      throw badParameter(name, ALLOWED[name]);
    }
    return number;
  };
  return {
    limit: read("limit", MAX_RECORDS) ?? USUAL_RECORDS,
    after: read("after", Number.MAX_SAFE_INTEGER),
  };
}

function readNames({ url }: FrameworkRequest): boolean {
  const [text = "false", ...others] = new URLSearchParams(queryOf(url)).getAll("names");
  if (others.length > 0 || !["", "true", "false"].includes(text)) {
    throw badParameter("names", "true or false");
  }
  return text !== "false";
}

function nextLink(req: FrameworkRequest, page: Required<HistoryPage>): string {
  return `<${linkUrl(req, { ...page })}>; rel="next"`;
}

/** Hooks need whole versions, which are computed backwards from the current entity by all newer records. */
async function showPage(
  shown: RecordContext,
  { limit, after }: HistoryPage,
): Promise<{ readonly list: readonly ShownRecord[]; readonly hasMore: boolean }> {
  const { context, current } = shown;
  const isAfter = after === undefined ? {} : { $lt: after };
  const query = {
    current,
    batchSize: limit + 1,
    ...!hasReadHooks(context) && { versions: isAfter },
  };
  const list: ShownRecord[] = [];
  let values = current;
  let size = 0;
  for await (const record of eachRecord(context, query)) {
    const before = valuesBefore(values, record);
    if (record.version < (after ?? Infinity)) {
      if (list.length === limit || size > PAGE_BYTES) return { list, hasMore: true };
      const each = await showRecord(shown, { record, before, after: values });
      // Hidden values must not shorten a page, or their size would show.
      size += JSON.stringify(each.before).length;
      list.push(each);
    }
    values = before;
  }
  return { list, hasMore: false };
}

async function withNames(
  { route, timeBudget }: OpenLevelContext,
  records: readonly ShownRecord[],
): Promise<readonly ShownRecord[]> {
  const ask = route.settings.get("history") as ActorNames | undefined;
  const actors = new Map(
    records.flatMap(({ actor }) => actor === undefined ? [] : [[String(actor), actor] as const]),
  );
  if (ask === undefined || actors.size === 0) return records;
  const names = await timeBudget.wait(askNames(ask, [...actors.values()]));
  return records.map((record) => {
    const actorName = names.get(String(record.actor));
    return actorName === undefined ? record : { ...record, actorName };
  });
}
