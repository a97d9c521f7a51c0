import { assertEquals } from "@std/assert";
import type { Reply } from "../../harness/request.ts";
import { isReplaceOfFurther } from "./judge_twins.ts";
import { Random } from "./random.ts";
import { Requests } from "./requests.ts";
import { type Pool, seed } from "./seed.ts";
import { type Hiding, NOW, type TwinRequest, Twins } from "./twins.ts";

/** The number of batches after which both twins get new entities. */
const TRIAL = 40;

/** The largest number of requests in a batch. */
const MAX = 8;

/** The headers that a request of a batch may set. */
const HEADERS = ["if-match", "if-none-match", "prefer", "accept"];

export interface JudgedBatches {
  /** How many requests were part of a batch that succeeded. */
  readonly requests: number;
  readonly batches: number;
  /** The statuses of the batches. */
  readonly statuses: Readonly<Record<string, number>>;
}

/**
 * Sends random requests one by one to the second twin, and as batches to the first. Compares the answers and the stored
 * entities, and checks that no statement of a batch is sent without the transaction of the batch.
 */
export async function judgeBatches(
  hiding: Hiding,
  { seed: start, batches }: { readonly seed: number; readonly batches: number },
): Promise<JudgedBatches> {
  const statuses: Record<string, number> = {};
  let requests = 0;
  await using twins = await Twins.start(hiding);
  for (let trial = 0; trial * TRIAL < batches; trial++) {
    const random = new Random(start + trial);
    const pool = await seed(twins, random, hiding);
    const making = new Requests(random, pool);
    for (let turn = 0; turn < TRIAL; turn++) {
      const judged = await judgeBatch(twins, { pool, making, random }).catch((error) => {
        throw new Error(`seed ${start + trial}, batch ${turn}: ${error.message}`);
      });
      requests += judged.requests;
      for (const status of judged.statuses) statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }
  const { body: escaped } = await twins.sendBatch({ method: "GET", path: "/escaped", headers: {} });
  assertEquals(escaped, [], "commands of batches outside of their transaction");
  return { requests, batches, statuses };
}

interface Making {
  readonly pool: Pool;
  readonly making: Requests;
  readonly random: Random;
}

/** Whether a batch takes a request. Batches refuse the others by themselves, which other tests check. */
function isTaken({ method, path, raw, headers }: TwinRequest): boolean {
  const isUnpaged = /^\/(hooked|lean|host)(\?|$)|\/(notes|slots|items|related)(\?|$)/.test(path) &&
    !/^\/(items|holders)(\?|$)/.test(path);
  return raw === undefined && !(method === "GET" && isUnpaged) && path.startsWith("/") &&
    !["HEAD", "OPTIONS"].includes(method) && !/^\/host|[^!-~]/.test(path) &&
    headers["idempotency-key"] === undefined && headers.accept === undefined;
}

async function judgeBatch(
  twins: Twins,
  { pool, making, random }: Making,
): Promise<{ readonly requests: number; readonly statuses: readonly number[] }> {
  const user = random.one(["ann", "bob"]);
  const length = 1 + random.below(MAX);
  const sent: TwinRequest[] = [];
  const replies: Reply[] = [];
  let failed: { readonly request: TwinRequest; readonly reply: Reply } | undefined;
  twins.begin();
  while (sent.length < length && failed === undefined) {
    const made = making.next();
    if (!isTaken(made) || isReplaceOfFurther(made, pool)) continue;
    const request = { ...made, headers: { ...made.headers, "x-user": user } };
    const reply = await twins.sendSecond(request, sent.length > 0);
    if (reply.status >= 300 && reply.status !== 304) failed = { request, reply };
    else {
      sent.push(request);
      replies.push(reply);
    }
  }
  const statuses: number[] = [];
  if (sent.length > 0) statuses.push(await compareBatch(twins, { sent, replies, pool }));
  if (failed !== undefined) statuses.push(await compareFailed(twins, { ...failed, pool }));
  return { requests: sent.length, statuses };
}

/** Sends requests as a batch to the first twin, which must answer and store what the second twin has. */
async function compareBatch(
  twins: Twins,
  { sent, replies, pool }: {
    readonly sent: readonly TwinRequest[];
    readonly replies: readonly Reply[];
    readonly pool: Pool;
  },
): Promise<number> {
  const { status, text, body } = await twins.sendBatch(asBatch(sent));
  const what = JSON.stringify(sent);
  assertEquals(status, 200, `${text} ${what}`);
  const { responses } = body as { readonly responses: readonly BatchAnswer[] };
  for (const [index, reply] of replies.entries()) {
    assertEquals(shown(responses[index]), ofReply(reply), `${index} of ${what}`);
  }
  const [one, other] = await Promise.all(twins.all.map((each) => twins.stored(each, pool.further)));
  assertEquals(one, other, what);
  return status;
}

/** Sends a request that fails after one that succeeds. The batch must answer the failure, and store nothing. */
async function compareFailed(
  twins: Twins,
  { request, reply, pool }: {
    readonly request: TwinRequest;
    readonly reply: Reply;
    readonly pool: Pool;
  },
): Promise<number> {
  const common = Object.entries(request.headers).filter(([name]) => !HEADERS.includes(name));
  const headers = Object.fromEntries(common);
  const harmless = { method: "POST", path: "/holders", body: { name: "new" }, headers };
  const isOfFurther = [...pool.further].some((id) => request.path.includes(id));
  twins.begin();
  const { status, body } = await twins.sendBatch(asBatch([harmless, request]));
  const { failed, ...others } = body as { readonly failed?: unknown };
  const what = JSON.stringify(request);
  // A path of no route answers with the page of Express, and a batch refuses it.
  if (typeof reply.body === "string") assertEquals([reply.status, status], [404, 400], what);
  else if (!isOfFurther) assertEquals([status, others], [reply.status, reply.body], what);
  assertEquals(failed, "r1", `${JSON.stringify(body)} ${what}`);
  const [one, other] = await Promise.all(twins.all.map((each) => twins.stored(each, pool.further)));
  assertEquals(one, other, what);
  return status;
}

interface BatchAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function asBatch(sent: readonly TwinRequest[]): TwinRequest {
  const { headers } = sent[0] as TwinRequest;
  const requests = sent.map(({ method, path, body, headers }, index) => {
    const own = Object.entries(headers).filter(([name]) => HEADERS.includes(name));
    const isRead = method === "GET" || method === "DELETE";
    return {
      id: `r${index}`,
      method,
      path,
      headers: Object.fromEntries(own),
      ...!isRead && body !== undefined && { body },
    };
  });
  const common = Object.entries(headers).filter(([name]) => !HEADERS.includes(name));
  return {
    method: "POST",
    path: "/batch",
    body: { requests },
    headers: Object.fromEntries(common),
  };
}

/** The headers of an answer that are those of its connection, or of its text. */
const OF_MESSAGE = [
  ...["date", "connection", "keep-alive", "content-length", "content-type", "vary"],
  ...["x-powered-by", "transfer-encoding"],
];

function ofReply({ status, headers, body, text }: Reply): object {
  const own = [...headers].filter(([name]) => !OF_MESSAGE.includes(name));
  const answer = { status, headers: Object.fromEntries(own), ...text !== "" && { body } };
  return shown(answer);
}

/** Returns an answer without times, and without the tags of answers with times. */
function shown({ status, headers, body }: BatchAnswer = { status: 0, headers: {} }): object {
  const text = JSON.stringify(body) ?? "";
  const { etag, ...others } = headers;
  const isTimed = text.search(NOW) >= 0;
  return {
    status,
    headers: { ...others, ...!isTimed && etag !== undefined && { etag } },
    body: text.replaceAll(NOW, '"NOW"'),
  };
}
