import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { mountPieces, pieceId } from "./fixtures/pieces.ts";
import type { Reply } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { linksOf } from "./links.ts";
import { type AskedList, type JudgedPiece, judgeList, type Verdict } from "./list_judge.ts";
import type { EntityBody, ErrorBody } from "./support.ts";

const SEED = Number(Deno.env.get("LISTS_SEED") ?? 20261122);

/** How many URLs are asked for. `LISTS_URLS=20000` is the long run. */
const URLS = Number(Deno.env.get("LISTS_URLS") ?? 4000);

const AT_ONCE = 20;

const NAMES = ["alien", "Alien", "élan", "elan vital", "a.c", "abc", null, undefined, "zen", ""];

/** The entities of two tenants. Everything that is hidden says so. */
const PIECES: readonly JudgedPiece[] = Array.from({ length: 16 }, (_, place) => {
  const name = NAMES[place % NAMES.length];
  const rank = [0, 1, 2, 2, null, undefined, 3][place % 7];
  return {
    _id: String(pieceId(place)),
    ...name !== undefined && { name },
    ...rank !== undefined && { rank },
    text: place % 3 === 0 ? "one text" : "other",
    tags: place % 4 === 0 ? ["t"] : [],
    secret: "HIDDEN alien",
    tenant: place % 3 === 0 ? "HIDDEN b" : "HIDDEN a",
  };
});

const id = fc.integer({ min: 0, max: 17 }).map((place) => String(pieceId(place)));
const odd = fc.constantFrom("", "-", "x", "1e1", "%E9", "%00", "%D9%A3", "__proto__", "[]", "{}");
const digits = fc.integer({ min: -1, max: 12 }).map(String);
const key = fc.constantFrom("rank", "-rank", "name", "-name", "_id", "-_id", "secret", "tenant");
const field = fc.constantFrom("name", "rank", "tags", "_id", "secret", "text", "tenant", "__v");
const word = fc.constantFrom(
  ...["alien", "ALIEN", "elan", "%C3%89lan", "one", "a.c", ".", "hidden", "%24ne", "e", "("],
);

const operand = fc.constantFrom("", "alien", "abc", null);
const condition = fc.oneof(
  operand,
  fc.tuple(fc.constantFrom("$gt", "$gte", "$lt", "$ne"), operand).map(([name, each]) => ({
    [name]: each,
  })),
  fc.boolean().map(($exists) => ({ $exists })),
  fc.constantFrom<unknown>({ $where: "1" }, { $in: ["alien", "abc"] }),
);
const clause = fc.oneof(
  { weight: 4, arbitrary: condition.map((each) => ({ name: each })) },
  { weight: 2, arbitrary: fc.constantFrom(0, 1, 2, null).map((rank) => ({ rank: { $ne: rank } })) },
  condition.map((each) => ({ secret: each })),
  condition.map((each) => ({ tenant: each })),
  id.map((_id) => ({ _id })),
);
const q = fc.oneof(
  { weight: 3, arbitrary: clause },
  fc.tuple(fc.constantFrom("$and", "$or", "$nor"), fc.array(clause, { minLength: 1, maxLength: 2 }))
    .map(([name, list]) => ({ [name]: list })),
).map((filter) => encodeURIComponent(JSON.stringify(filter)));

/** Values by the parameters to which they belong. */
const VALUES: readonly (readonly [name: string, value: fc.Arbitrary<string>])[] = [
  ["limit", digits],
  ["skip", digits],
  ["after", id],
  ["sort", fc.array(key, { minLength: 1, maxLength: 2 }).map((keys) => keys.join())],
  ["select", fc.array(field, { minLength: 1, maxLength: 2 }).map((names) => names.join())],
  ["search", fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => words.join("+"))],
  ["q", q],
];
const STRANGE = ["limit[]", "sort[rank]", "q[name]", "populate", "page", "__proto__", "secret"];
const parameter = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.oneof(...VALUES.map(([name, value]) => fc.tuple(fc.constant(name), value))),
  },
  fc.tuple(fc.constantFrom(...VALUES.map(([name]) => name), ...STRANGE), odd),
);

/** Mostly each parameter once, so that many requests are answered. */
const query = fc.oneof(
  { weight: 6, arbitrary: fc.uniqueArray(parameter, { maxLength: 4, selector: ([name]) => name }) },
  fc.array(parameter, { maxLength: 4 }),
);

const asked = fc.record({
  list: fc.nat({ max: 9 }),
  query,
  tenant: fc.constantFrom("HIDDEN a", "HIDDEN b", undefined),
  below: fc.constantFrom(undefined, undefined, 1, 3),
  even: fc.boolean(),
  exact: fc.boolean(),
});

type App = Awaited<ReturnType<typeof mountPieces>>;

/** Asks for a URL, and holds the answer against the judge. */
async function ask(
  app: App,
  { list, exact, ...given }: AskedList & { list: number; exact: boolean },
) {
  const isCounted = list < app.counted.length;
  const path = app.lists[list] ?? "";
  const search = given.query.map((each) => each.join("=")).join("&");
  const headers = {
    ...given.tenant !== undefined && { "x-tenant": given.tenant },
    ...given.below !== undefined && { "x-below": String(given.below) },
    ...given.even && { "x-even": "1" },
    ...exact && { prefer: "count=exact" },
  };
  const reply = await app.get(`${path}?${search}`, { headers });
  const shown = reply.text + [...reply.headers].join();
  assert(!/HIDDEN/.test(shown), `${path}?${search} shows ${shown}`);
  const verdict = judgeList(PIECES, { ...given, even: given.even && !isCounted });
  const what = `${path}?${search} ${JSON.stringify(headers)}: ${reply.text}`;
  if ("wrong" in verdict) holdRefusal(reply as Reply<ErrorBody>, verdict.wrong, what);
  else holdPage(reply as Reply<EntityBody[]>, verdict, { what, exact: exact && isCounted });
}

function holdRefusal({ status, body }: Reply<ErrorBody>, wrong: ReadonlySet<string>, what: string) {
  assertEquals([status, body.code], [400, "BAD_FORMAT"], what);
  const { parameter = "q" } = body as { parameter?: string };
  assert(wrong.has(parameter), `${what}: wrong is ${[...wrong]}`);
}

function holdPage(
  reply: Reply<EntityBody[]>,
  { shown, select, next, range, total }: Exclude<Verdict, { wrong: unknown }>,
  { what, exact }: { what: string; exact: boolean },
) {
  assertEquals(reply.status, 200, what);
  const names = select ?? ["name", "text", "rank", "tags"];
  const cut = (entity: object) =>
    Object.fromEntries(
      Object.entries(entity).filter(([name]) => name === "_id" || names.includes(name)),
    );
  // Without select, some lists show more than what is stored.
  const answer = select === undefined ? reply.body.map(cut) : reply.body;
  assertEquals(answer, shown.map(cut) as unknown[], what);
  const link = linksOf(reply).next;
  const { searchParams } = new URL(link ?? "", "http://localhost");
  const place = ["after", "skip"].flatMap((name) =>
    searchParams.has(name) ? [[name, searchParams.get(name)]] : []
  );
  assertEquals(link && Object.fromEntries(place), next, what);
  const told = ["content-range", "x-total-count"].map((name) => reply.headers.get(name));
  assertEquals(told, exact ? [`items ${range}/${total}`, String(total)] : [null, null], what);
}

test("any URL is answered with what a client may see, or with 400 that names the parameter", async () => {
  await using app = await mountPieces(PIECES.map(({ _id: _, ...each }) => each));
  const urls = fc.array(asked, { minLength: AT_ONCE, maxLength: AT_ONCE });
  const property = fc.asyncProperty(urls, async (each) => {
    await Promise.all(each.map((one) => ask(app, one as never)));
  });
  await fc.assert(property, { seed: SEED, numRuns: Math.ceil(URLS / AT_ONCE), endOnFailure: true });
});
