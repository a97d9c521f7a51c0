import { assertEquals } from "@std/assert";
import { all, create, FrameworkModel, one, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

@rest({ route: "/", methods: [all(), one(), create()], schemaOptions: { collection: "anything" } })
class Anything extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/books", methods: [all(), create()] })
class Book extends FrameworkModel {
  @prop()
  title?: string;
}

@rest({ route: "/:place/books", methods: [all()], schemaOptions: { collection: "books" } })
class PlacedBook extends Book {}

@rest({ route: "/books/:kind/lists", methods: [all()], schemaOptions: { collection: "lists" } })
class BookList extends FrameworkModel {}

test("a name in a path goes before a parameter, and what has no such name is found behind it", async () => {
  await using app = await mount([Anything, PlacedBook, BookList]);
  const root = await app.created("/", { name: "a" });
  assertEquals((await app.get("/")).body, [root]);
  assertEquals((await app.get(`/${root._id}`)).body, root);
  for (const path of ["/berlin/books", "/BERLIN/Books/", "/books/new/lists", "/Books/a/LISTS"]) {
    assertEquals((await app.get(path)).text, "[]", path);
  }
  // An identifier that is called like the first name of another path.
  for (const path of ["/books", "/books/", "/booksellers", "/books/new", "/books/a/b"]) {
    assertEquals((await app.get(path)).status, 404, path);
  }
  assertEquals((await app.get("/books/%ff/lists")).status, 404);
});
