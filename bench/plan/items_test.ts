import { assertEquals, assertNotEquals } from "@std/assert";
import { ITEM_BYTES, itemBody, itemId, itemPatch } from "./items.ts";

Deno.test("itemBody() gives every entity the same length as JSON", () => {
  for (const index of [0, 1, 999, 12_345, 99_999]) {
    const text = JSON.stringify({ _id: itemId(index), ...itemBody(index), __v: 0 });
    assertEquals(text.length + 1, ITEM_BYTES);
  }
});

Deno.test("itemPatch() changes both of its fields", () => {
  const { title, stars } = itemBody(5);
  assertNotEquals(itemPatch(5).title, title);
  assertNotEquals(itemPatch(5).stars, stars);
});
