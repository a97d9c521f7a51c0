import { assertEquals, assertNotEquals } from "@std/assert";
import { getModel } from "../../mod.ts";
import { Book, Receipt } from "../fixtures/receipts.ts";
import { mountPieces, pieceId, ranked } from "../fixtures/pieces.ts";
import { test } from "../harness/testing.ts";
import { linksOf } from "../features/page/links.ts";
import { asQuery, mount } from "../support/support.ts";

/** Each list parameter with commas, and repeated. */
const FORMS: readonly [commas: string, repeated: string][] = [
  ["sort=-rank,name", "sort=-rank&sort=name"],
  ["sort=rank,-name,_id", "sort=rank,-name&sort=_id"],
  ["sort=-name,rank", "%73ort=-name&sort=rank"],
  ["select=name,rank", "select=name&select=rank"],
  ["select=name,rank,tags", "select=name&limit=3&select=rank,tags"],
  ["select=name", "select=name&select=name"],
  ["populate=owner,friends", "populate=owner&populate=friends"],
];

test("a list takes its list parameters with commas and repeated", async () => {
  await using app = await mountPieces(ranked(5));
  for (const list of app.lists) {
    for (const [commas, repeated] of FORMS) {
      const [one, two] = [await app.get(`${list}?${commas}`), await app.get(`${list}?${repeated}`)];
      assertEquals([list, repeated, two.status, two.body], [list, repeated, 200, one.body]);
    }
    const plain = await app.get(`${list}?sort=name`);
    const sorted = await app.get(`${list}?sort=-rank&sort=name`);
    assertNotEquals(plain.body, sorted.body);
  }
});

test("one() takes select repeated", async () => {
  await using app = await mountPieces(ranked(1));
  const path = `/bare/${pieceId(0)}`;
  const { body } = await app.get(`${path}?select=name,tags`);
  assertEquals((await app.get(`${path}?select=name&select=tags`)).body, body);
});

test("the links of a page keep what was repeated", async () => {
  await using app = await mountPieces(ranked(5));
  const reply = await app.get("/bare?sort=-rank&sort=name&limit=2&select=name&select=rank");
  const next = linksOf(reply).next ?? "";
  const { searchParams } = new URL(next, "http://localhost");
  assertEquals(searchParams.getAll("sort"), ["-rank", "name"]);
  assertEquals(
    await app.read(next),
    await app.read("/bare?sort=-rank,name&limit=2&skip=2&select=name,rank"),
  );
});

test("groups take their parameters with commas and repeated", async () => {
  await using app = await mount([Receipt, Book]);
  await getModel(Receipt).create([{ state: "open", rank: 1, size: 2 }, { state: "open", rank: 2 }]);
  const commas = "group=state,rank&sum=rank,size&avg=size,rank&sort=-count,state,rank";
  const repeated = commas.replaceAll(
    /(\w+)=([^&]*)/g,
    (_all, name: string, fields: string) =>
      fields.split(",").map((field) => `${name}=${field}`).join("&"),
  );
  const q = asQuery({ rank: { $gt: 0 } });
  assertEquals(
    await app.read<unknown>(`/receipts${q}&${repeated}`),
    await app.read<unknown>(`/receipts${q}&${commas}`),
  );
});

test("a parameter of one value is refused where it is repeated", async () => {
  await using app = await mountPieces(ranked(2));
  for (const name of ["limit", "skip", "search", "q"]) {
    const { status } = await app.get(`/bare?${name}=1&${name}=1`);
    assertEquals([name, status], [name, 400]);
  }
});
