/** What the compiler must accept of collections of TanStack DB, held against the real package. */
import { assertEquals } from "@std/assert";
import { type CollectionConfig, createCollection } from "@tanstack/db";
import { connect } from "@mongrove/mongrove/client";
import { collectionOptions, type CollectionUtils, type Row } from "@mongrove/mongrove/tanstack";
import type { Film, Review } from "../fixtures/studio.ts";
import { expect, type Same } from "../support/same_type.ts";

const api = connect("https://example.org");
const films = api.resource<Film>("/films");

const given: CollectionConfig<Row<Film>, string, never, CollectionUtils> = collectionOptions(films);

/** Never called. */
function use() {
  const query = { q: { year: { $gt: 1970 } }, sort: ["-year"], limit: 9 } as const;
  const collection = createCollection(collectionOptions(films, { live: true, query }));
  collection.insert({ _id: "a", name: "Alien" });
  // @ts-expect-error the class requires a name
  collection.insert({ _id: "a", year: 1979 });
  // @ts-expect-error no such field
  collection.insert({ _id: "a", name: "Alien", yaer: 1979 });
  collection.update("a", (draft) => {
    draft.year = 1979;
    // @ts-expect-error a number
    draft.year = "1979";
  });
  expect<Same<typeof collection.utils.refetch, () => Promise<void>>>();
  expect<Same<Row<Film>["name"], string>>();
  expect<Same<Row<Film>["__v"], number | undefined>>();
  expect<Same<Row<Film>["createdAt"], string | undefined>>();
  const row = collection.get("a");
  expect<Same<typeof row extends { readonly _id: string } | undefined ? true : false, true>>();
  const { id, ...others } = { ...collectionOptions(films), id: "films", gcTime: 0 };
  createCollection({ id, ...others });
  createCollection(collectionOptions(films.part("reviews", "a")));
  collectionOptions<Omit<Review, "__v">>(films.part("reviews", "a"), { live: false });
  // @ts-expect-error no such field in the filter
  collectionOptions(films, { query: { q: { yaer: 1 } } });
  // @ts-expect-error a collection has whole entities
  collectionOptions(films, { query: { select: ["name"] } });
}

Deno.test("options of a collection are options of createCollection() of TanStack DB", () => {
  assertEquals([typeof use, typeof given.sync.sync], ["function", "function"]);
});
