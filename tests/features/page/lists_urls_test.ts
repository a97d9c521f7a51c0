import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { getModel } from "../../../mod.ts";
import { Fan, mountPieces, pieceId, Star } from "../../fixtures/pieces.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import type { Reply } from "../../harness/request.ts";
import { casesOf } from "../../harness/report.ts";
import { longTest, test } from "../../harness/testing.ts";
import { continuesBehind, linksOf } from "./links.ts";
import {
  type AskedList,
  type JudgedPiece,
  type JudgedTarget,
  judgeList,
  type Verdict,
} from "./list_judge.ts";
import type { EntityBody, ErrorBody } from "../../support/support.ts";

const SEED = Number(Deno.env.get("LISTS_SEED") ?? 20261122);

/** How many URLs are asked for. `LISTS_URLS=20000` is the long run. */
const URLS = Number(Deno.env.get("LISTS_URLS") ?? casesOf(500, 100));

const AT_ONCE = 20;

const NAMES = ["alien", "Alien", "élan", "elan vital", "a.c", "abc", null, undefined, "zen", ""];

/** What entities refer to: fans, and stars under the same identifiers. The last two are gone. */
const FANS: readonly string[] = Array.from(
  { length: 6 },
  (_, place) => String(pieceId(100 + place)),
);

const TARGETS: readonly JudgedTarget[] = FANS.slice(0, 4).map((_id, place) => ({
  _id,
  name: `fan ${place}`,
  tenant: place % 2 === 0 ? "HIDDEN a" : "HIDDEN b",
  __v: 0,
}));

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
    friends: FANS.slice(place % 4, place % 4 + place % 3),
    ...place % 5 !== 0 && { owner: place % 5 === 1 ? null : FANS[place % FANS.length] as string },
    ...place % 2 === 0 && { star: FANS[place % 3] as string },
  };
});

/** The same as it is stored: with identifiers, which are texts in some places. */
const STORED = PIECES.map(({ _id: _, owner, star, friends = [], ...each }, place) => ({
  ...each,
  friends: friends.map((id) => place % 4 === 0 ? id : new mongoose.Types.ObjectId(id)),
  ...owner !== undefined && { owner: owner === null ? null : new mongoose.Types.ObjectId(owner) },
  ...star !== undefined && { star: place % 3 === 0 ? star : new mongoose.Types.ObjectId(star) },
}));

/** Serves the entities, and stores what they refer to. */
async function openWorld(mongo?: string): Promise<App> {
  const app = await mountPieces(STORED, { mongo });
  for (const model of [Fan, Star]) {
    const docs = TARGETS.map((each) => ({
      ...{ ...each, _id: new mongoose.Types.ObjectId(each._id) },
      ...{ secret: "HIDDEN secret", notes: "HIDDEN notes" },
    }));
    await getModel(model).collection.insertMany(docs);
  }
  return app;
}

const id = fc.integer({ min: 0, max: 17 }).map((place) => String(pieceId(place)));
const odd = fc.constantFrom("", "-", "x", "1e1", "%E9", "%00", "%D9%A3", "__proto__", "[]", "{}");
const digits = fc.integer({ min: -1, max: 12 }).map(String);
const key = fc.constantFrom("rank", "-rank", "name", "-name", "_id", "-_id", "secret", "tenant");
const field = fc.constantFrom(
  ...["name", "rank", "tags", "_id", "secret", "text", "tenant", "__v", "owner", "friends", "star"],
);
const reference = fc.constantFrom("owner", "friends", "star", "owner", "friends", "tags", "secret");
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
  [
    "populate",
    fc.array(reference, { minLength: 1, maxLength: 2 }).map((names) => names.join()),
  ],
];
const STRANGE = [
  "limit[]",
  "sort[rank]",
  "q[name]",
  "populate[owner]",
  "page",
  "__proto__",
  "secret",
];
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
  const verdict = judgeList({ pieces: PIECES, targets: TARGETS }, {
    ...given,
    even: given.even && !isCounted,
  });
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
  const names = select ?? ["name", "text", "rank", "tags", "owner", "friends", "star"];
  const cut = (entity: object) =>
    Object.fromEntries(
      Object.entries(entity).filter(([name]) => name === "_id" || names.includes(name)),
    );
  // Without select, some lists show more than what is stored.
  const answer = select === undefined ? reply.body.map(cut) : reply.body;
  assertEquals(answer, shown.map(cut) as unknown[], what);
  const link = linksOf(reply).next;
  const skip = new URL(link ?? "", "http://localhost").searchParams.get("skip");
  const place: object = skip === null ? { after: continuesBehind(link) } : { skip };
  assertEquals<unknown>(link && place, next, what);
  const told = ["content-range", "x-total-count"].map((name) => reply.headers.get(name));
  assertEquals(told, exact ? [`items ${range}/${total}`, String(total)] : [null, null], what);
}

/** Asks for so many URLs. */
async function askAll(app: App, count: number): Promise<void> {
  const urls = fc.array(asked, { minLength: AT_ONCE, maxLength: AT_ONCE });
  const property = fc.asyncProperty(urls, async (each) => {
    await Promise.all(each.map((one) => ask(app, one as never)));
  });
  const numRuns = Math.ceil(count / AT_ONCE);
  await fc.assert(property, { seed: SEED, numRuns, endOnFailure: true });
}

test("any URL is answered with what a client may see, or with 400 that names the parameter", async () => {
  await using app = await openWorld();
  await askAll(app, URLS);
});

longTest("lists of a replica set answer the same", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await openWorld(mongo);
  await askAll(app, 400);
});
