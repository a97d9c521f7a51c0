import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { all, create, FrameworkModel, getModel, one, prop, type Ref, rest } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** What a hook may project: an index covers it. */
const projected = {
  preFetch: (req: FrameworkRequest) => {
    req.framework.projection = { name: 1, size: 1 };
    req.framework.options = { sort: { name: 1 } };
    return true;
  },
};
const page = { size: 10, max: 10 };
const listed = { page, sort: ["name"], select: ["name", "size"] } as const;

@rest({
  route: "/books",
  methods: [all({ ...listed, count: true }), create(), one({ select: ["name"] })],
})
@rest({ route: "/hooked", methods: [all({ ...listed, postFetch: pass })] })
@rest({ route: "/projected", methods: [all(projected)] })
@rest({ route: "/projected/hooked", methods: [all({ ...projected, postFetch: pass })] })
@rest({ route: "/projected/lean", methods: [all({ ...projected, postFetch: pass, lean: true })] })
class Book extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.index({ name: 1, _id: 1, size: 1 });
    schema.index({ _id: 1, name: 1, size: 1 });
  }
  @prop()
  name?: string;
  @prop({ default: "small" })
  size?: string;
}

@rest({
  route: "/shelves",
  methods: [all({ populate: { book: { select: ["name", "size"], always: true } } }), create()],
})
class Shelf extends FrameworkModel {
  @prop({ ref: () => Book })
  book?: Ref<Book>;
}

test("what is missing stays so where an index could answer, and gets its default", async () => {
  await using app = await mount([Book, Shelf]);
  const books = getModel(Book);
  await books.init();
  const { insertedIds } = await books.collection.insertMany([{}, { name: null, size: "large" }]);
  const [first, second] = Object.values(insertedIds).map(String);
  const expected = [
    { _id: first, size: "small" },
    { _id: second, name: null, size: "large" },
  ];
  const selected = "?sort=name&select=name,size";
  const paths = [`/books${selected}`, `/hooked${selected}`, "/projected", "/projected/hooked"];
  for (const path of [...paths, "/projected/lean"]) {
    for (const prefer of ["count=exact", ""]) {
      const { body } = await app.get(path, { headers: { prefer } });
      assertEquals<unknown>(body, expected, `${path} ${prefer}`);
    }
  }
  assertEquals<unknown>(await app.read(`/books/${first}?select=name`), { _id: first });
  await app.created("/shelves", { book: first });
  const [shelf] = await app.read<{ book: unknown }[]>("/shelves");
  assertEquals(shelf?.book, expected[0]);
});
