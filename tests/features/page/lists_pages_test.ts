import { assertEquals } from "@std/assert";
import { mountPieces, pieceId, placesOf, ranked } from "../../fixtures/pieces.ts";
import { test } from "../../harness/testing.ts";
import { continuesBehind, linksOf } from "./links.ts";
import { asQuery, type ErrorBody, NOBODY } from "../../support/support.ts";

test("the link to the next page names the last entity, and is there only if there is more", async () => {
  await using app = await mountPieces(ranked(4));
  for (const list of app.lists) {
    assertEquals(
      linksOf(await app.get(`${list}?limit=2&sort=-_id`)).next,
      `${list}?limit=2&sort=-_id&after=${pieceId(2)}`,
    );
    const next = linksOf(await app.get(`${list}?limit=2&sort=-rank`)).next;
    assertEquals(next?.replace(/=[\w-]+$/, ""), `${list}?limit=2&sort=-rank&after`);
    assertEquals(continuesBehind(next), String(pieceId(2)));
    assertEquals(linksOf(await app.get(next ?? "")), {});
    assertEquals(linksOf(await app.get(`${list}?limit=4`)), {});
  }
});

test("after an entity that is not in the list any more, only the order of identifiers continues", async () => {
  await using app = await mountPieces(ranked(4));
  const gone = pieceId(1);
  await app.Root.deleteOne({ _id: gone });
  for (const list of ["/bare", "/hooked", "/lean"]) {
    assertEquals(placesOf(await app.read(`${list}?after=${gone}`)), [2, 3]);
    assertEquals(placesOf(await app.read(`${list}?after=${gone}&sort=-_id,rank`)), [0]);
    const { status, body } = await app.get(`${list}?after=${gone}&sort=rank`);
    assertEquals([status, body], [400, {
      code: "BAD_FORMAT",
      message: 'Parameter "after" takes the identifier of an entity of the list',
      parameter: "after",
      allowed: "the identifier of an entity of the list",
    }]);
  }
});

test("after takes any identifier of the list, in capitals too", async () => {
  await using app = await mountPieces(ranked(12));
  for (const list of app.lists) {
    const after = String(pieceId(9)).toUpperCase();
    for (const sort of ["", "&sort=rank"]) {
      assertEquals(placesOf(await app.read(`${list}?after=${after}${sort}`)), [10, 11]);
    }
    assertEquals(placesOf(await app.read(`${list}?after=${pieceId(11)}&sort=rank`)), []);
    assertEquals((await app.get(`${list}?after=${NOBODY}&sort=rank`)).status, 400);
  }
});

test("after an entity out of scope or of the filter of hooks is refused", async () => {
  const pieces = ranked(6).map((each) => ({ ...each, tenant: Number(each.rank) < 4 ? "a" : "b" }));
  await using app = await mountPieces(pieces);
  for (const list of app.lists) {
    const after = `${list}?sort=-rank&after=`;
    const status = async (place: number, headers: Record<string, string>) =>
      (await app.get<ErrorBody>(after + pieceId(place), { headers })).status;
    assertEquals(await status(4, { "x-tenant": "a" }), 400, list);
    assertEquals(await status(3, { "x-tenant": "a" }), 200);
    assertEquals(await status(3, { "x-below": "3" }), 400);
    assertEquals(await status(2, { "x-below": "3" }), 200);
    assertEquals(await status(2, { "x-only": "n3" }), 400);
  }
});

test("after an entity to which the parent does not refer is refused", async () => {
  await using app = await mountPieces(ranked(4));
  await app.Shelf.updateMany({}, { $pull: { roots: pieceId(1), "boxes.$[].roots": pieceId(1) } });
  for (const list of app.lists.filter((path) => path.endsWith("/roots"))) {
    assertEquals([list, placesOf(await app.read(list))], [list, [0, 2, 3]]);
    assertEquals((await app.get(`${list}?sort=rank&after=${pieceId(1)}`)).status, 400);
    assertEquals(placesOf(await app.read(`${list}?sort=rank&after=${pieceId(2)}`)), [3]);
  }
});

test("after an entity that only the client leaves out, a list continues", async () => {
  await using app = await mountPieces(ranked(6));
  const filters = [asQuery({ rank: { $ne: 2 } }), "?search=n3", asQuery({ $nor: [{ rank: 2 }] })];
  for (const list of app.lists) {
    for (const [index, filter] of filters.entries()) {
      const read = await app.read(`${list}${filter}&sort=rank&after=${pieceId(2)}`);
      assertEquals([list, placesOf(read)], [list, index === 1 ? [3] : [3, 4, 5]]);
    }
    const both = `${list}${asQuery({ rank: { $ne: 2 } })}&search=n&sort=rank`;
    assertEquals(placesOf(await app.read(`${both}&after=${pieceId(2)}`)), [3, 4, 5]);
    const headers = { "x-below": "5" };
    const path = `${list}${asQuery({ name: { $ne: "n2" } })}&sort=rank&after=${pieceId(2)}`;
    assertEquals(placesOf(await app.read(path, { headers })), [3, 4]);
  }
});

test("skip leaves out entities, and links to the pages around", async () => {
  await using app = await mountPieces(ranked(8));
  for (const list of app.lists) {
    const first = await app.get(`${list}?skip=2&limit=3&sort=rank`);
    assertEquals([list, placesOf(first.body)], [list, [2, 3, 4]]);
    assertEquals(linksOf(first), {
      next: `${list}?skip=5&limit=3&sort=rank`,
      prev: `${list}?limit=3&sort=rank`,
      first: `${list}?limit=3&sort=rank`,
    });
    const last = await app.get(linksOf(first).next);
    assertEquals(placesOf(last.body), [5, 6, 7]);
    assertEquals(linksOf(last).prev, `${list}?skip=2&limit=3&sort=rank`);
    assertEquals(linksOf(last).next, undefined);
    const beyond = await app.get(`${list}?skip=2147483647`);
    assertEquals([beyond.text, linksOf(beyond).first], ["[]", list]);
  }
});

test("HEAD answers as GET does, without the list", async () => {
  await using app = await mountPieces(ranked(5));
  for (const list of app.counted) {
    const headers = { prefer: "count=exact" };
    const head = await app.send("HEAD", `${list}?limit=2`, { headers });
    const get = await app.get(`${list}?limit=2`, { headers });
    assertEquals([head.status, head.text], [200, ""]);
    for (const name of ["link", "content-range", "x-total-count", "vary", "content-length"]) {
      assertEquals([name, head.headers.get(name)], [name, get.headers.get(name)]);
    }
  }
});
