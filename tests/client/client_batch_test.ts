import { assertEquals, assertRejects } from "@std/assert";
import { ApiError, type Batch, connect, type FetchFunction } from "@mongrove/mongrove/client";
import { getModel } from "../../mod.ts";
import { Author, Book } from "../features/batch/shop.ts";
import { test } from "../harness/testing.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";

async function serveShop() {
  const app = await mountOnReplicaSet([Author, Book], {
    at: "/api",
    batch: { path: "/batch", max: 20 },
  });
  const sent: string[] = [];
  const fetch: FetchFunction = (url, init) => {
    sent.push(`${init.method} ${new URL(url).pathname}`);
    return globalThis.fetch(url, init);
  };
  const api = connect(`${app.url}/api`, { fetch });
  return { api, sent, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

function open(batch: Batch) {
  return {
    authors: batch.resource<Author>("/authors"),
    books: batch.resource<Book>("/books"),
  };
}

test("the client sends operations as one batch, whose values name earlier answers", async () => {
  await using served = await serveShop();
  const { api, sent } = served;
  const [author, book, page, read, listed, removed] = await api.batch((batch) => {
    const { authors, books } = open(batch);
    const author = authors.create({ name: "Ann" });
    const id = batch.value(author, "_id");
    const book = books.create({ title: "A", author: id });
    const page = books.part("pages", batch.value(book, "_id")).create({ text: "one" });
    authors.update(id, { books: 1 });
    const other = authors.create({ name: "Bob" });
    return [
      author,
      book,
      page,
      authors.one(id),
      books.all({ populate: ["author"] }),
      authors.remove(batch.value(other, "_id")),
    ];
  });
  assertEquals(sent, ["POST /api/batch"]);
  assertEquals([author.name, book.author, page.text], ["Ann", author._id, "one"]);
  assertEquals([read.books, removed], [1, undefined]);
  assertEquals(listed.items.map(({ title, author }) => [title, author?.name]), [["A", "Ann"]]);
  assertEquals(await getModel(Author).distinct("name"), ["Ann"]);
});

test("an entity of a batch has its version, and a batch binds a write to it", async () => {
  await using served = await serveShop();
  const { api } = served;
  const { authors } = open(api as unknown as Batch);
  const [ann] = await api.batch((batch) => [open(batch).authors.create({ name: "Ann" })]);
  await authors.update(ann._id, { name: "Bob" }, { ifMatch: ann });
  const stale = api.batch((batch) => [open(batch).authors.remove(ann._id, { ifMatch: ann })]);
  const { status, body } = await assertRejects(() => stale, ApiError);
  assertEquals([status, Object(body).failed], [412, "0"]);
});

test("a failed batch of the client writes nothing, and fails once", async () => {
  await using served = await serveShop();
  const { api } = served;
  const failed = await assertRejects(
    () =>
      api.batch((batch) => {
        const { authors, books } = open(batch);
        const author = authors.create({ name: "Ann" });
        // No promise of the batch is handled, and none of them may end the process.
        books.create({ title: "A", author: "no identifier" });
        return [author];
      }),
    ApiError,
  );
  assertEquals([failed.status, Object(failed.body).failed], [400, "1"]);
  assertEquals(await getModel(Author).countDocuments(), 0);
});

test("what a batch of the client cannot have throws before anything is sent", async () => {
  await using served = await serveShop();
  const { api, sent } = served;
  const refused = [
    [
      (batch: Batch) => [open(batch).authors.create({ name: "Ann" }), open(batch).authors.one("")],
      "no identifier",
    ],
    [(batch: Batch) => {
      const { authors } = open(batch);
      const name = batch.value(authors.create({ name: "Ann" }), "name");
      return [authors.all({ q: { name } as object })];
    }, "a filter"],
    [() => [api.batch], "no operation"],
    [(batch: Batch) => [batch.value(Promise.resolve({ _id: "1" }), "_id")], "no operation"],
  ] as const;
  for (const [build, words] of refused) {
    const { message } = await assertRejects(() => api.batch(build as never), TypeError);
    assertEquals([words, message.includes(words)], [words, true]);
  }
  let kept: Batch | undefined;
  await api.batch((batch) => {
    kept = batch;
    return [open(batch).authors.all()];
  });
  await assertRejects(() => open(kept as Batch).authors.all(), Error, "has been sent");
  assertEquals(sent.length, 1);
});

/** A client whose requests fail, for batches that must not be sent. */
const offline = connect("http://localhost", { fetch: () => Promise.reject(new Error("sent")) });

test("an operation that cannot be sent keeps a batch from being sent, and ends no process", async () => {
  const refused = [
    [(batch: Batch) => [open(batch).authors.one("")], "no identifier"],
    [(batch: Batch) => {
      const { authors } = open(batch);
      // The promise of the removal is not returned.
      authors.remove("");
      return [authors.create({ name: "Ann" })];
    }, "no identifier"],
    [(batch: Batch) => {
      open(batch).authors.one("");
      throw new TypeError("thrown by the application");
    }, "thrown by the application"],
    [(batch: Batch) => Promise.resolve([open(batch).authors.all()]), "no list"],
    [(batch: Batch) => [batch.resource<Author>("authors").all()], "begin with a slash"],
    [(batch: Batch) => {
      const { authors } = open(batch);
      const data = { name: { $result: "0._id" } };
      return [authors.create({ name: "Ann" }), authors.create(data as never)];
    }, "$result"],
  ] as const;
  for (const [build, words] of refused) {
    await assertRejects(() => offline.batch(build as never), TypeError, words);
  }
});

test("a value of a batch stands for a whole value only, as a part of a text would be stored as it is", async () => {
  const refused = [
    (batch: Batch) => {
      const { authors, books } = open(batch);
      const name = batch.value(authors.create({ name: "Ann" }), "name");
      return [books.create({ title: `The life of ${name}` })];
    },
    (batch: Batch) => {
      const { authors } = open(batch);
      const name = batch.value(authors.create({ name: "Ann" }), "name");
      return [authors.create({ [name as string]: "Bob" } as never)];
    },
    (batch: Batch) => {
      const { authors } = open(batch);
      const name = batch.value(authors.create({ name: "Ann" }), "name") as string;
      return [authors.remove("1", { headers: { "if-match": name } })];
    },
  ];
  for (const build of refused) {
    await assertRejects(() => offline.batch(build as never), TypeError, "a whole value");
  }
});

test("paths of a batch may end with a slash, and name a value several times", async () => {
  const bodies: unknown[] = [];
  const answers = [{ responses: [{ status: 201, headers: {}, body: { _id: "1" } }] }, {}];
  const fetch: FetchFunction = (_url, { body }) => {
    bodies.push(JSON.parse(String(body)).requests.map(({ path }: { path: string }) => path));
    return Promise.resolve(Response.json(answers.shift()));
  };
  const { batch: send } = connect("http://localhost", { fetch });
  const build = (batch: Batch) => {
    const author = batch.resource<Author>("/authors/").create({ name: "Ann" });
    const id = batch.value(author, "_id");
    batch.resource<Book>("/books").part("pages", id).remove(id);
    return [author];
  };
  const one = await send((batch) => [batch.resource<Author>("/authors/").create({ name: "Ann" })]);
  assertEquals(one, [{ _id: "1" }] as never);
  // An answer that lacks the answers to operations fails, because their promises would stay pending.
  await assertRejects(() => send(build), ApiError);
  assertEquals(bodies, [["/authors"], ["/authors", "/books/{0._id}/pages/{0._id}"]]);
});

test("the compiler knows the results of a batch and the fields of its values", () => {
  const never = (_: () => unknown) => {};
  const api = connect("http://localhost");
  never(() =>
    api.batch((batch) => {
      const { authors, books } = open(batch);
      const author = authors.create({ name: "Ann" });
      // @ts-expect-error no field of the class
      batch.value(author, "nam");
      // @ts-expect-error a number is no title
      return [books.create({ title: batch.value(author, "books") })];
    })
  );
  never(async () => {
    const [{ name }] = await api.batch((batch) => [open(batch).authors.one("1")]);
    // @ts-expect-error the name is a text
    return name * 2;
  });
});
