import { assert, assertEquals } from "@std/assert";
import type { Reply } from "../../harness/request.ts";
import { asQueryMethod, assertSameAnswer } from "../../support/as_query_method.ts";
import { Random } from "./random.ts";
import { Requests } from "./requests.ts";
import { type Pool, seed } from "./seed.ts";
import { type Hiding, type TwinRequest, Twins } from "./twins.ts";
import { compareLive } from "./live_twins.ts";

/** The number of requests after which both twins get new entities. */
const TRIAL = 250;

export interface Judged {
  /** How many requests both twins got. */
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** Sends random requests to both twins, and compares the answers and the stored entities. */
export async function judgeTwins(
  hiding: Hiding,
  { seed: start, requests, isAdopted = false }: {
    readonly seed: number;
    readonly requests: number;
    readonly isAdopted?: boolean;
  },
): Promise<Judged> {
  const statuses: Record<string, number> = {};
  await using twins = await Twins.start(hiding, isAdopted);
  let sent = 0;
  for (let trial = 0; sent < requests; trial++) {
    const random = new Random(start + trial);
    const pool = await seed(twins, random, hiding);
    const before = await furtherOf(twins, pool);
    const making = new Requests(random, pool);
    for (let turn = 0; turn < TRIAL && sent < requests; turn++, sent++) {
      const request = making.next();
      const status = await judgeOne(twins, pool, request).catch((error) => {
        throw new Error(`seed ${start + trial}, request ${turn}: ${error.message}`);
      });
      const key = `${request.method} ${status}`;
      statuses[key] = (statuses[key] ?? 0) + 1;
    }
    if (trial % 4 === 0) await compareLive(twins, pool, random);
    assertEquals(await furtherOf(twins, pool), before, `seed ${start + trial}`);
  }
  return { sent, statuses };
}

/** Reads the further entities of the first twin, which no request may change. */
async function furtherOf(twins: Twins, { further }: Pool): Promise<string[]> {
  const others = await twins.stored(twins.first, further);
  return (await twins.stored(twins.first, new Set())).filter((text) => !others.includes(text));
}

async function judgeOne(twins: Twins, pool: Pool, sent: TwinRequest): Promise<number> {
  if (isReplaceOfFurther(sent, pool)) {
    // By contract, a PUT on the identifier of a hidden entity is a 404, and otherwise creates an entity.
    const answer = await twins.sendFirst(sent);
    assert([400, 404, 412].includes(answer.status), `${answer.status} ${JSON.stringify(sent)}`);
    return answer.status;
  }
  const reply = await twins.compare(sent);
  const { status, headers, body } = reply;
  assert(status < 500, `${status} ${JSON.stringify(sent)}`);
  if (sent.method === "GET" && headers.has("accept-query")) await compareQuery(twins, sent, reply);
  if (sent.method !== "GET" && status < 400) {
    const [one, other] = await Promise.all(
      twins.all.map((each) => twins.stored(each, pool.further)),
    );
    assertEquals(one, other, JSON.stringify(sent));
  }
  remember(pool, { sent, link: headers.get("link"), body, status });
  return status;
}

/** Sends the parameters of a list in a body, and compares the answer with that of `GET`. */
async function compareQuery(twins: Twins, sent: TwinRequest, reply: Reply): Promise<void> {
  const asked = asQueryMethod(sent.path);
  const isOrdered = !/^\/(hooked|lean)\b/.test(sent.path);
  if (asked === undefined || !isOrdered) return;
  const byQuery = await twins.sendFirst({ ...sent, method: "QUERY", ...asked });
  assertSameAnswer(byQuery, reply, JSON.stringify(sent));
}

export function isReplaceOfFurther({ method, path }: TwinRequest, { further }: Pool): boolean {
  return method === "PUT" && further.has(/\w{24}(?=$|\?)/.exec(path)?.[0] ?? "");
}

interface Answered {
  readonly sent: TwinRequest;
  readonly link: string | null;
  readonly body: unknown;
  readonly status: number;
}

/** Adds the entities and links of an answer to the values from which requests are made. */
function remember(pool: Pool, { sent: { path }, link, body, status }: Answered): void {
  for (const [, url = ""] of (link ?? "").matchAll(/<([^>]*)>/g)) {
    pool.links.push(url.replace(/^https?:\/\/[^/]*/, ""));
    if (pool.links.length > 8) pool.links.shift();
  }
  if (status !== 201) return;
  const list = path.startsWith("/holders") && path.split("/").length === 2
    ? pool.holders
    : pool.items;
  for (const { _id, notes = [], slots = [] } of [body].flat().map(Object)) {
    if (typeof _id === "string") list.push({ id: _id, isFurther: false });
    pool.parts.push(...[...notes, ...slots].map((each) => String(each._id)));
  }
}
