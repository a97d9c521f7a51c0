import { assert, assertEquals } from "@std/assert";
import { getModel } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { type Mounted, NOBODY } from "../../support/support.ts";
import { Author, Book, rows, sendBatch } from "./shop.ts";

const batch = { path: "/batch", max: 20 };

function mountShop() {
  return mountOnReplicaSet([Author, Book], { batch });
}

test("the requests of a batch see what earlier ones have written", async () => {
  await using app = await mountShop();
  const { status, body: { responses } } = await sendBatch(
    app,
    rows(
      ["POST", "/authors", { name: "Ann" }],
      ["POST", "/books", { title: "A", author: { $result: "r0._id" } }],
      ["POST", "/books/{r1._id}/pages", { text: "one" }],
      ["GET", "/books/{r1._id}/pages/{r2._id}"],
      ["GET", "/books?populate=author"],
      ["PATCH", "/authors/{r0._id}", { books: 1 }],
      ["GET", "/authors/{r0._id}"],
    ),
  );
  assertEquals(status, 200);
  const [author, book, , page, books, , read] = responses;
  assertEquals(responses.map(({ id }) => id), ["r0", "r1", "r2", "r3", "r4", "r5", "r6"]);
  assertEquals(responses.map(({ status }) => status), [201, 201, 201, 200, 200, 200, 200]);
  assertEquals(author?.headers.location, `/authors/${author?.body?._id}`);
  assertEquals([page?.body?.text, read?.body?.books], ["one", 1]);
  const [listed] = books?.body as unknown as Record<string, Record<string, unknown>>[];
  assertEquals([listed?._id, listed?.author?.name], [book?.body?._id as never, "Ann"]);
  assertEquals(await getModel(Book).countDocuments({ "pages.text": "one" }), 1);
});

test("an entity is created, changed and removed in one batch", async () => {
  await using app = await mountShop();
  const { body: { responses } } = await sendBatch(
    app,
    rows(
      ["POST", "/authors", { name: "Ann" }],
      ["PATCH", "/authors/{r0._id}", { name: "Bob" }],
      ["PUT", "/authors/{r0._id}", { name: "Cid" }],
      ["DELETE", "/authors/{r0._id}"],
      ["GET", "/authors"],
      ["POST", "/authors", [{ name: "Ann" }, { name: "Bob" }]],
      ["POST", "/books", { title: "B", author: { $result: "r5.1._id" } }],
    ),
  );
  assertEquals(responses.map(({ status }) => status), [201, 200, 200, 204, 200, 201, 201]);
  assertEquals("body" in Object(responses[3]), false);
  assertEquals(responses[4]?.body, [] as never);
  assertEquals(await getModel(Author).distinct("name"), ["Ann", "Bob"]);
});

/** Requests that are refused, if there are the authors Ann and Bob. */
const FAILURES = (ann: string, bob: string) =>
  [
    ["GET", `/authors/${NOBODY}`],
    ["PATCH", `/authors/${NOBODY}`, { books: 1 }],
    ["PATCH", `/authors/${ann}`, { books: "x" }],
    ["PUT", `/authors/${ann}`, {}],
    ["PATCH", `/authors/${bob}`, { name: "Ann" }],
    ["PUT", `/authors/${bob}`, { name: "Ann" }],
    ["POST", "/authors", { name: "Ann" }],
    ["POST", "/authors", [{ name: "Dan" }, { name: "Ann" }]],
    ["POST", "/books", { title: "A", author: NOBODY }],
    ["POST", `/books/${NOBODY}/pages`, { text: "x" }],
    ["GET", "/authors?limit=51"],
    ["GET", '/authors?q={"nothing":1}'],
  ] as const;

test("a failed request undoes the batch, and its answer is that of the batch", async () => {
  await using app = await mountShop();
  const { _id: ann } = await app.created("/authors", { name: "Ann" });
  const { _id: bob } = await app.created("/authors", { name: "Bob" });
  for (const failure of FAILURES(ann, bob)) {
    const [method, path, body] = failure;
    const single = await app.send(method, path, { body });
    const { status, body: answer } = await sendBatch(
      app,
      rows(["POST", "/authors", { name: "New" }], failure, ["POST", "/authors", { name: "Newer" }]),
    );
    const { failed, ...others } = answer;
    assert(single.status >= 400, path);
    assertEquals([status, others as unknown], [single.status, single.body], path);
    assertEquals(failed, "r1");
  }
  assertEquals(await getModel(Author).distinct("name"), ["Ann", "Bob"]);
});

/** Creates an author. Returns the tag of the author, and a function that makes requests to the author. */
async function makeAuthor(app: Mounted) {
  const { body: { _id }, headers } = await app.post("/authors", { name: "Ann" });
  const path = `/authors/${_id}`;
  const own = (id: string, method: string, headers: Record<string, string>, books?: number) => ({
    ...{ id, method, path, headers },
    ...books !== undefined && { body: { books } },
  });
  return { path, tag: headers.get("etag") ?? "", own };
}

test("headers of a request are its own", async () => {
  await using app = await mountShop();
  const { path, tag, own } = await makeAuthor(app);
  const all = [
    own("before", "GET", {}),
    own("none", "GET", { "If-None-Match": tag }),
    own("first", "PATCH", { "if-match": tag, Prefer: "return=minimal" }, 0),
    own("plain", "PATCH", {}, 1),
  ];
  const given = { "if-none-match": tag, prefer: "return=minimal" };
  const { status, body } = await sendBatch(app, all, given);
  assertEquals(status, 200, JSON.stringify(body));
  const [before, none, first, plain] = body.responses;
  assertEquals([before?.status, before?.body?.name], [200, "Ann"]);
  assertEquals([none?.status, none?.body], [304, undefined]);
  assertEquals([first?.status, first?.headers["preference-applied"]], [204, "return=minimal"]);
  assertEquals([plain?.status, plain?.body?.books], [200, 1]);
  const stale = await sendBatch(app, [own("a", "PATCH", { "If-Match": tag }, 2)]);
  assertEquals([stale.status, stale.body.failed], [412, "a"]);
  const gone = await sendBatch(app, [
    own("a", "PATCH", { "If-Match": "*" }, 3),
    own("b", "PATCH", { "If-Match": tag }, 4),
  ]);
  assertEquals([gone.status, gone.body.failed], [412, "b"]);
  assertEquals((await app.read(path)).books, 1);
});

test("values of answers are taken at any depth, and keep their types", async () => {
  await using app = await mountShop();
  const { status, body: { responses } } = await sendBatch(
    app,
    rows(
      ["POST", "/authors", { name: "Ann", books: 3 }],
      ["POST", "/authors", { name: "a/b?c#d é", books: { $result: "r0.books" } }],
      ["GET", "/authors?sort=name"],
      ["POST", "/books", {
        title: { $result: "r2.1.name" },
        pages: [{ text: { $result: "r1.name" } }],
      }],
      ["GET", "/books/{r3._id}/pages/{r3.pages.0._id}"],
    ),
  );
  assertEquals(status, 200, JSON.stringify(responses));
  assertEquals([responses[1]?.body?.books, responses[4]?.body?.text], [3, "a/b?c#d é"]);
});

test("a page with its total is read in the transaction", async () => {
  await using app = await mountShop();
  const { body: { responses } } = await sendBatch(app, [
    { id: "a", method: "POST", path: "/authors", body: [{ name: "a" }, { name: "b" }] },
    { id: "b", method: "GET", path: "/authors?limit=1", headers: { Prefer: "count=exact" } },
  ]);
  assertEquals(responses[1]?.headers["x-total-count"], "2");
  assert(responses[1]?.headers.link?.includes('rel="next"'));
});

test("a router below a path has its batches there", async () => {
  await using app = await mountOnReplicaSet([Author, Book], { batch, at: "/api" });
  const { body } = await app.post<{ responses: { headers: Record<string, string> }[] }>(
    "/api/batch",
    { requests: rows(["POST", "/authors", { name: "Ann" }]) },
  );
  assert(body.responses[0]?.headers.location?.startsWith("/api/authors/"));
});
