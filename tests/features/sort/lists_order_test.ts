import { assertEquals } from "@std/assert";
import { all, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { mountPieces, pieceId, placesOf, ranked } from "../../fixtures/pieces.ts";
import { test } from "../../harness/testing.ts";
import { linksOf } from "../page/links.ts";
import { mount } from "../../support/support.ts";

const PIECES = [
  { name: "b", rank: 2 },
  { name: "a", rank: 2 },
  { name: "b", rank: 1 },
  { name: "a" },
  { name: "c", rank: null },
  { rank: 1 },
];

const ORDERS: [sort: string, places: number[]][] = [
  ["rank", [3, 4, 2, 5, 0, 1]],
  ["-rank", [0, 1, 2, 5, 3, 4]],
  ["name", [5, 1, 3, 0, 2, 4]],
  ["-name", [4, 0, 2, 1, 3, 5]],
  ["name,rank", [5, 3, 1, 2, 0, 4]],
  ["name,-rank", [5, 1, 3, 0, 2, 4]],
  ["-rank,name", [1, 0, 5, 2, 3, 4]],
  ["rank,-_id", [4, 3, 5, 2, 1, 0]],
  ["_id", [0, 1, 2, 3, 4, 5]],
  ["-_id", [5, 4, 3, 2, 1, 0]],
  ["-_id,rank", [5, 4, 3, 2, 1, 0]],
];

test("sort orders a list as the database does, and by _id what is equal", async () => {
  await using app = await mountPieces(PIECES);
  for (const list of app.lists) {
    for (const [sort, places] of ORDERS) {
      const path = `${list}?sort=${sort}&limit=10`;
      assertEquals([path, placesOf(await app.read(path))], [path, places]);
    }
  }
});

test("sort takes percent-encoded text", async () => {
  await using app = await mountPieces(ranked(3));
  assertEquals(placesOf(await app.read("/bare?sort=%2Drank%2Cname")), [2, 1, 0]);
});

test("sort goes together with q, search, select, skip and after", async () => {
  await using app = await mountPieces(ranked(10));
  for (const list of app.lists) {
    const q = encodeURIComponent('{"rank":{"$gt":1}}');
    const path = `${list}?sort=-rank&q=${q}&search=n&select=rank&limit=2`;
    const page = await app.get(`${path}&skip=2`);
    assertEquals([list, page.body], [
      list,
      [7, 6].map((rank) => ({
        _id: String(pieceId(rank)),
        rank,
      })),
    ]);
    const after = linksOf(await app.get(path)).next ?? "";
    assertEquals(await app.read(after), page.body as never);
  }
});

@rest({ route: "/sorted", methods: [all({ sort: ["n"] })] })
@rest({ route: "/sorted-hooked", methods: [all({ sort: ["n"], preSend: pass })] })
class Sorted extends FrameworkModel {
  @prop({ type: Number })
  n?: number;
}

test("the order of a list without pages is by _id too where entities are equal", async () => {
  await using app = await mount([Sorted]);
  const docs = [3, 1, 0, 2, 4].map((place) => ({ _id: pieceId(place), n: place === 4 ? 0 : 1 }));
  await getModel(Sorted).collection.insertMany(docs as never);
  for (const list of ["/sorted", "/sorted-hooked"]) {
    assertEquals(placesOf(await app.read(`${list}?sort=n`)), [4, 0, 1, 2, 3]);
    assertEquals(placesOf(await app.read(`${list}?sort=-n,-_id`)), [3, 2, 1, 0, 4]);
  }
});
