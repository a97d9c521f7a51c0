import { assertEquals } from "@std/assert";
import { all, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { mountPieces, pieceId, ranked, UP_TO } from "../../fixtures/pieces.ts";
import { test } from "../../harness/testing.ts";
import type { Reply } from "../../harness/request.ts";
import { asQuery, mount } from "../../support/support.ts";

const EXACT = { headers: { prefer: "count=exact" } };

/** What an answer says about its list: its range, its total, and what it has followed. */
function toldBy({ headers }: Reply): (string | null)[] {
  return ["content-range", "x-total-count", "preference-applied"].map((name) => headers.get(name));
}

test("a page tells its range and the total to a client that asks for it", async () => {
  await using app = await mountPieces(ranked(7));
  for (const list of app.counted) {
    const told = async (query: string) => toldBy(await app.get(list + query, EXACT));
    assertEquals([list, await told("")], [list, ["items 0-2/7", "7", "count=exact"]]);
    assertEquals(await told("?skip=2&limit=4"), ["items 2-5/7", "7", "count=exact"]);
    assertEquals(await told("?skip=6"), ["items 6-6/7", "7", "count=exact"]);
    assertEquals(await told("?skip=7"), ["items */7", "7", "count=exact"]);
    assertEquals(await told(`?after=${pieceId(1)}`), ["items */7", "7", "count=exact"]);
    assertEquals(await told("?search=none"), ["items */0", "0", "count=exact"]);
  }
});

test("as many as are counted at most are told, more are not", async () => {
  for (
    const [count, ranges] of [
      [UP_TO, ["items 0-2/20", "items */20", "20"]],
      [UP_TO + 1, ["items 0-2/*", null, null]],
    ] as const
  ) {
    await using app = await mountPieces(ranked(count));
    for (const list of app.counted) {
      const [range, total] = toldBy(await app.get(list, EXACT));
      const [after] = toldBy(await app.get(`${list}?after=${pieceId(0)}`, EXACT));
      assertEquals([list, range, after, total], [list, ...ranges]);
    }
  }
});

test("who does not ask is told no total, and all answers vary by the wish", async () => {
  await using app = await mountPieces(ranked(2));
  for (const list of app.counted) {
    const wishes = ["", "count=none", "return=minimal", "count=exactly", "x=count"];
    for (const prefer of wishes) {
      const reply = await app.get(list, { headers: { prefer } });
      assertEquals([prefer, ...toldBy(reply)], [prefer, null, null, null]);
      assertEquals(reply.headers.get("vary"), "Prefer");
    }
    assertEquals((await app.get(list, EXACT)).headers.get("vary"), "Prefer");
  }
});

test("a wish for the total is read in every form that HTTP allows", async () => {
  await using app = await mountPieces(ranked(2));
  const wishes = ['count="exact"', "COUNT=Exact", "return=minimal, count=exact", "count=exact;x=1"];
  for (const prefer of [...wishes, "a;b=c,  count=exact ;d", "count = exact"]) {
    const reply = await app.get("/bare", { headers: { prefer } });
    assertEquals([prefer, ...toldBy(reply)], [prefer, "items 0-1/2", "2", "count=exact"]);
  }
});

test("lists that do not count do not tell totals", async () => {
  await using app = await mountPieces(ranked(2));
  for (const list of app.hooked) {
    const reply = await app.get(list, EXACT);
    assertEquals([...toldBy(reply), reply.headers.get("vary")], [null, null, null, null]);
  }
});

const fails = () => {
  throw new Error("not shown");
};

@rest({ route: "/always", methods: [all({ count: { always: true } })] })
@rest({ route: "/upto", methods: [all({ count: { always: true, upTo: 2 }, page: { max: 2 } })] })
@rest({ route: "/true", methods: [all({ count: true })] })
@rest({ route: "/failing", methods: [all({ count: { always: true } })], scope: fails })
class Counted extends FrameworkModel {
  @prop()
  name?: string;
}

test("a list that always counts tells the total unasked, streamed too", async () => {
  await using app = await mount([Counted], { onError: () => undefined });
  await getModel(Counted).create([{}, {}, { name: "x" }]);
  const always = await app.get<unknown[]>("/always");
  assertEquals([always.body.length, ...toldBy(always)], [3, "items */3", "3", null]);
  assertEquals(always.headers.get("vary"), null);
  assertEquals(toldBy(await app.get("/always", EXACT)), ["items */3", "3", "count=exact"]);
  assertEquals(toldBy(await app.get("/upto")), ["items 0-1/*", null, null]);
  assertEquals(toldBy(await app.get(`/upto${asQuery({ name: "x" })}`)), ["items 0-0/1", "1", null]);
  assertEquals(toldBy(await app.get("/true")), [null, null, null]);
  assertEquals(toldBy(await app.get("/true", EXACT)), ["items */3", "3", "count=exact"]);
  const failing = await app.get("/failing");
  assertEquals([failing.status, ...toldBy(failing)], [500, null, null, null]);
});
