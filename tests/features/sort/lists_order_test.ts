import { assertEquals } from "@std/assert";
import { all, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { mountPieces, pieceId, placesOf, ranked } from "../../fixtures/pieces.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

test("sort takes percent-encoded text", async () => {
  await using app = await mountPieces(ranked(3));
  assertEquals(placesOf(await app.read("/bare?sort=%2Drank%2Cname")), [2, 1, 0]);
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
