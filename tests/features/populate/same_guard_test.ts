import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  and,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  type ModelClass,
  one,
  or,
  prop,
  type Ref,
  removeAll,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

const isSigned = (req: FrameworkRequest) => req.headers["x-user"] !== undefined;
const isStaff = (req: FrameworkRequest) => req.headers["x-user"] === "staff";
const isOther = (req: FrameworkRequest) => isSigned(req);

/** Narrows the filter to what the sender of a request owns. */
function ownOnly(req: FrameworkRequest): boolean {
  req.framework.filter = { $and: [req.framework.filter, { owner: req.headers["x-user"] }] };
  return isSigned(req);
}

type Guard = (req: FrameworkRequest) => boolean | Promise<boolean>;

/** Returns a class whose operations the first hook guards, with a reference to a class that the second one guards. */
function guardedBy(reader: object, referred: object, options = {}): [ModelClass, ModelClass] {
  @rest({ route: "/authors", methods: [create(), one(referred)] })
  class Author extends FrameworkModel {
    @prop()
    name?: string;
    @prop()
    owner?: string;
  }
  class Part extends FrameworkModel {
    @prop({ ref: Author, ...options })
    author?: Ref<Author>;
  }
  @rest({
    route: "/books",
    methods: [
      create(),
      all({
        ...reader,
        populate: { author: true, authors: true },
        filter: ["author.name", "authors.name", "parts.author.name"] as never[],
      }),
      one(reader),
      removeAll({ ...reader, filter: ["author.name"] as never[] }),
    ],
  })
  class Book extends FrameworkModel {
    @prop()
    owner?: string;
    @prop({ ref: Author, ...options })
    author?: Ref<Author>;
    @arrayProp({ items: Author, ...options })
    authors?: Ref<Author>[];
    @rest({ methods: [all({ populate: { author: true } })] })
    @arrayProp({ items: Part, embedded: true, apart: false })
    parts?: Part[];
  }
  return [Author, Book];
}

const by = (preFetch: Guard) => ({ preFetch });

const SAME: readonly (readonly [reader: object, referred: object])[] = [
  [by(isSigned), by(isSigned)],
  [by(isSigned), {}],
  [by(and(isSigned, isStaff)), by(and(isSigned, isStaff))],
  [by(and(isSigned, isStaff)), by(isStaff)],
  [by(and(isSigned, and(isStaff, isOther))), by(and(isOther, isStaff))],
  [by(or(isSigned, isStaff)), by(or(isSigned, isStaff))],
];

const OTHER: readonly (readonly [reader: object, referred: object])[] = [
  [{}, by(isSigned)],
  [by(isOther), by(isSigned)],
  [by(isStaff), by(and(isSigned, isStaff))],
  [by(or(isSigned, isStaff)), by(isStaff)],
  [by(or(isSigned, isStaff)), by(or(isStaff, isSigned))],
  [by(or(isSigned, isStaff)), by(and(isSigned, isStaff))],
  [by(isSigned), { ...by(isSigned), preSend: (_req: unknown, author: object) => author }],
];

test("a reference needs `unguarded` only if its readers have not passed its guard", () => {
  for (const [reader, referred] of SAME) {
    Framework.describe({ models: guardedBy(reader, referred) });
  }
  for (const [reader, referred] of OTHER) {
    const start = (options: object) =>
      Framework.describe({ models: guardedBy(reader, referred, options) });
    assertThrows(() => start({}), TypeError, "unguarded: true");
    start({ unguarded: true });
  }
});

test("a guard that both classes have also narrows the referred entities", async () => {
  const models = guardedBy(by(ownOnly), by(ownOnly));
  await using app = await mount(models);
  const ann = { headers: { "x-user": "ann" } };
  const { _id: own } = await app.created("/authors", { name: "a", owner: "ann" });
  const { _id: foreign } = await app.created("/authors", { name: "b", owner: "bob" });
  const body = { owner: "ann", authors: [foreign, own] };
  const { _id: first } = await app.created("/books", { ...body, author: own });
  const { _id: second } = await app.created("/books", { ...body, author: foreign });
  type Found = { _id: string; author: unknown; authors: { _id: string }[] }[];
  const books = await app.get<Found>("/books?populate=author,authors", ann);
  const shown = books.body.map(({ author, authors }) => [author, authors.map(({ _id }) => _id)]);
  assertEquals(shown, [[{ _id: own, name: "a", owner: "ann", __v: 0 }, [own]], [null, [own]]]);
  const found = async (name: string) => {
    const q = encodeURIComponent(JSON.stringify({ "author.name": name }));
    return (await app.get<Found>(`/books?q=${q}`, ann)).body.map(({ _id }) => _id);
  };
  assertEquals([await found("a"), await found("b")], [[first], []]);
  assertEquals(second === first, false);
});

test("an unguarded reference shows entities to all readers, in lists and parts", async () => {
  const models = guardedBy({}, by(ownOnly), { unguarded: true });
  await using app = await mount(models);
  const { _id: author } = await app.created("/authors", { name: "b", owner: "bob" });
  const { _id } = await app.created("/books", { author, parts: [{ author }] });
  type Found = { author: { name: string } }[];
  for (const path of ["/books", `/books/${_id}/parts`]) {
    const { body } = await app.get<Found>(`${path}?populate=author`);
    assertEquals(body.map((each) => each.author.name), ["b"], path);
  }
});

test("`unguarded` at an operation fails the start with its cure", () => {
  for (
    const [name, options] of [
      ["populate.author", { populate: { author: { unguarded: true } } }],
      ["unguarded", { filter: ["author.name"], unguarded: ["author"] }],
    ] as const
  ) {
    @rest({ route: "/books", methods: [all(options as never)] })
    class Book extends FrameworkModel {
      @prop({ ref: guardedBy({}, {})[0] })
      author?: string;
    }
    const start = () => Framework.describe({ models: [Book] });
    const { message } = assertThrows(start, TypeError, name);
    assertEquals(message.includes("@prop({ ref, unguarded: true })"), true, message);
  }
});

test("`unguarded` on a field that is no reference fails the start", () => {
  for (const options of [{}, { type: Number }]) {
    @rest({ route: "/books", methods: [all()] })
    class Book extends FrameworkModel {
      @prop({ ...options, unguarded: true } as never)
      author?: string;
    }
    const start = () => Framework.describe({ models: [Book] });
    assertThrows(start, TypeError, 'property "author" has "unguarded" and is not a reference');
  }
});
