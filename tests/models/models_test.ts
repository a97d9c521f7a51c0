// Runs alone: names of models depend on those of other classes.
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  prop,
  removeAll,
  rest,
} from "../../mod.ts";
import { Movie } from "../fixtures/movie.ts";
import { Actor } from "../fixtures/actor.ts";
import { Writer } from "../fixtures/writer.ts";
import { Book } from "../fixtures/book.ts";
import { Named } from "../fixtures/named.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

type Json = Record<string, unknown>;

test("getModel() keeps two classes of one name apart", async () => {
  const [One, Two] = ["one_things", "two_things"].map((collection, index) => {
    @rest({ route: `/${collection}`, methods: [all(), create()], schemaOptions: { collection } })
    class Thing extends FrameworkModel {
      @prop({ required: index === 0 })
      name?: string;
    }
    return Thing;
  }) as [typeof Named, typeof Named];
  await using app = await mount([One, Two]);
  await app.created("/two_things", {});
  assertEquals((await app.post("/one_things", {})).status, 400);
  assertEquals((await app.read<Json[]>("/two_things")).length, 1);
  assertEquals((await app.read<Json[]>("/one_things")).length, 0);
  assertEquals(getModel(Two).collection.name, "two_things");
});

@rest({ route: "/open", methods: [all({ preSend: (_req, { _id }: Entity<Door>) => ({ _id }) })] })
@rest({ route: "/doors", methods: [all(), create(), removeAll()] })
class Door extends Named {}

test("rest() twice on a class serves one collection on two routes, each with its own operations", async () => {
  await using app = await mount([Door]);
  const { _id } = await app.created("/doors", { name: "a" });
  assertEquals(await app.read<Json[]>("/open"), [{ _id }]);
  assertEquals(await app.read<Json[]>("/doors"), [{ _id, __v: 0, name: "a" }]);
  assertEquals((await app.post("/open", {})).status, 404);
  assertEquals((await app.delete("/open")).status, 404);
});

test("arrayProp() lets two files refer to each other, whichever is imported first", async () => {
  await using app = await mount([Movie, Actor, Book, Writer]);
  const actor = await app.created("/actors", { name: "a" });
  const movie = await app.created("/movies", { name: "m", actors: [actor._id] });
  assertEquals([actor.movies, movie.actors], [[], [actor._id]]);
  const writer = await app.created("/writers", { name: "w", books: [{ name: "b" }] });
  const book = await app.created("/books", { name: "b", writer: writer._id });
  assertEquals((writer.books as Json[])[0]?.name, "b");
  assertEquals(book.writer, writer._id);
  const [populated] = await getModel(Book).find().populate<{ writer: Writer }>("writer");
  assertEquals(populated?.writer.name, "w");
});

test("getModel() compiles the models that a class refers to, routed or not", () => {
  class Unrouted extends FrameworkModel {
    @prop({ type: () => Inner })
    inner?: Inner;
  }
  class Inner extends FrameworkModel {
    @prop({ ref: () => Far })
    far?: string;
  }
  class Far extends FrameworkModel {}
  const connection = mongoose.createConnection();
  getModel(Unrouted, connection);
  assertEquals(connection.modelNames().sort(), ["Far", "Unrouted"]);
});
