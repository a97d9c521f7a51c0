import { itemId } from "../plan/items.ts";
import { type Page, WITH_TOTAL } from "../plan/pages.ts";
import {
  byRank,
  PAGED,
  POPULATED,
  RANKED_COUNT,
  type RankedBody,
  rankedBody,
  type WriterBody,
  writerBody,
  writerOf,
} from "../plan/ranked.ts";
import type { RunningServer } from "../setup/running_server.ts";

/** What every entity has; some call it `id`. */
interface Identified {
  readonly _id?: string;
  readonly id?: string;
}

/** An entity of a page as a server answers it. */
type Answer = Partial<RankedBody> & Identified & { readonly writer?: unknown };

/** A page: an array, or what Feathers and remult wrap around it. */
type PageAnswer = readonly Answer[] | {
  readonly data?: readonly Answer[];
  readonly items?: readonly Answer[];
  readonly total?: number;
  readonly aggregates?: { readonly $count: number };
};

/**
 * Holds a server's pages against the entities that were seeded, in their order.
 *
 * @param running The server.
 * @returns What is wrong; `undefined` for nothing.
 */
export async function checkPages(running: RunningServer): Promise<string | undefined> {
  const { features } = running.ready;
  const plain = { route: PAGED, size: 20 };
  const populated = { route: POPULATED, size: 50, isPopulated: true };
  return (features.includes("page") ? await checkPage(running, plain) : undefined) ??
    (features.includes("populate") ? await checkPage(running, populated) : undefined);
}

async function checkPage(running: RunningServer, page: Page): Promise<string | undefined> {
  const { method, path, body } = running.server.kind.askPage(page);
  const response = await fetch(`http://127.0.0.1:${running.ready.port}${path}`, {
    method,
    headers: { ...body !== "" && { "content-type": "application/json" }, ...headersOf(page) },
    ...body !== "" && { body },
  });
  const text = await response.text();
  if (!response.ok) return `${path} answered ${response.status}`;
  const answer: PageAnswer = JSON.parse(text);
  const entities = "length" in answer ? answer : answer.data ?? answer.items ?? [];
  const total = response.headers.get("x-total-count") ??
    ("length" in answer ? undefined : answer.total ?? answer.aggregates?.$count);
  const expected = byRank().slice(0, page.size).map((index) => expectedOf(index, page));
  if (entities.map(show).join() !== expected.join()) return `${path} differs`;
  if (!page.isPopulated && Number(total) !== RANKED_COUNT) return `${path} has a wrong total`;
}

function headersOf({ isPopulated }: Page): Readonly<Record<string, string>> {
  return isPopulated ? {} : WITH_TOTAL;
}

function expectedOf(index: number, { isPopulated }: Page): string {
  const writer = itemId(writerOf(index));
  const shown = isPopulated ? { _id: writer, ...writerBody(writerOf(index)) } : writer;
  return show({ _id: itemId(index), ...rankedBody(index), writer: shown });
}

function show(answer: Answer): string {
  const { title, text, tags, created, rank, writer } = answer;
  return JSON.stringify([idOf(answer), title, text, tags, created, rank, showWriter(writer)]);
}

function showWriter(writer: unknown): unknown {
  if (typeof writer !== "object" || writer === null) return writer;
  const shown = writer as Partial<WriterBody> & Identified;
  return [idOf(shown), shown.name, shown.about, shown.joined];
}

function idOf({ _id, id }: Identified): string {
  return String(_id ?? id);
}
