import { assert, assertEquals } from "@std/assert";
import { Framework } from "../../mod.ts";
import { documentOf } from "../support/documented.ts";
import { WRITTEN } from "../fixtures/written.ts";
import { test } from "../harness/testing.ts";

interface Told {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly example?: string;
}

/** Opens the document, and gives what tests ask of it again and again. */
async function open() {
  const known = await documentOf(WRITTEN);
  const { operation, validator } = known;
  const parameters = (method: string, path: string) =>
    (operation(method, path).parameters ?? []) as readonly Told[];
  return {
    ...known,
    parameters,
    names: (method: string, path: string) =>
      parameters(method, path).map(({ name, required }) => `${name} ${required}`),
    statuses: (method: string, path: string) =>
      Object.keys(operation(method, path).responses).join(),
    answered: (method: string, path: string, status: number) =>
      Object.keys(operation(method, path).responses[status]?.headers ?? {}),
    schemaOf: (method: string, path: string) =>
      operation(method, path).requestBody?.content["application/json"]?.schema ?? {},
    takes(method: string, path: string, body: unknown): boolean {
      return validator(this.schemaOf(method, path))(body);
    },
  };
}

test("writes of many and replacements have operations with names and summaries", async () => {
  const { document } = await open();
  const told = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, summary }]) =>
      [method, path, operationId, summary].join()
    )
  );
  const expected = [
    "post,/books,writeBooks,Create a book",
    "patch,/books,updateAllBooks,Change books",
    "put,/books/{id},replaceBooks,Replace a book",
    "post,/books/{id}/chapters,createBooksChapters,Create a chapter of a book",
    "patch,/books/{id}/chapters,updateAllBooksChapters,Change chapters of a book",
  ];
  assertEquals(expected.filter((line) => !told.includes(line)), [], told.join("\n"));
});

test("writes have the parameters and headers that count for them", async () => {
  const { names } = await open();
  assertEquals(names("POST", "/books"), ["Prefer false", "Idempotency-Key true"]);
  assertEquals(names("POST", "/orders"), ["Prefer false", "Idempotency-Key false"]);
  assertEquals(names("POST", "/notes"), ["Prefer false"]);
  assertEquals(names("PATCH", "/books"), ["q true", "Prefer false"]);
  assertEquals(names("DELETE", "/books"), ["q true", "Prefer false"]);
  assertEquals(names("DELETE", "/notes"), ["q false", "Prefer false"]);
  assertEquals(names("PUT", "/books/{id}"), [
    ...["id true", "If-None-Match false", "If-Match false", "Prefer false"],
  ]);
  assertEquals(names("PATCH", "/books/{id}"), [
    ...["id true", "q false", "If-Match true", "Prefer false"],
  ]);
  assertEquals(names("GET", "/books/{id}"), ["id true", "q false", "If-None-Match false"]);
});

test("Prefer and If-None-Match tell what they ask of the operation", async () => {
  const { parameters } = await open();
  const told = (method: string, path: string, name = "Prefer") => {
    const { description = "", example } =
      parameters(method, path).find((each) => each.name === name) ?? {};
    return [description.match(/`[^`]+`/g)?.join(), example];
  };
  assertEquals(told("GET", "/notes"), ["`count=exact`", "count=exact"]);
  assertEquals(told("POST", "/books"), ["`return=minimal`", undefined]);
  assertEquals(told("PUT", "/books/{id}"), ["`return=minimal`", undefined]);
  assertEquals(told("DELETE", "/books"), ["`max-affected=10`", "max-affected=10"]);
  assertEquals(told("PATCH", "/books"), ["`max-affected=10`", "max-affected=10"]);
  assertEquals(told("PUT", "/books/{id}", "If-None-Match"), ["`*`", "*"]);
  assertEquals(told("GET", "/books/{id}", "If-None-Match"), ["`ETag`", undefined]);
});

test("writes have the statuses that they can answer", async () => {
  const { statuses } = await open();
  assertEquals(statuses("POST", "/books"), "201,400,404,409,413,415,422,500,503,default");
  assertEquals(statuses("POST", "/orders"), "201,400,404,409,413,415,422,500,503,default");
  assertEquals(statuses("POST", "/notes"), "201,204,207,400,413,415,500,503,default");
  assertEquals(statuses("PATCH", "/books"), "200,400,409,413,415,500,503,default");
  assertEquals(statuses("PATCH", "/notes"), "200,207,400,409,415,500,503,default");
  assertEquals(statuses("DELETE", "/books"), "204,400,409,500,503,default");
  const put = "200,201,204,400,404,409,412,413,415,428,500,503,default";
  assertEquals(statuses("PUT", "/books/{id}"), put);
  assertEquals(statuses("PUT", "/notes/{id}"), put.replace("428,", ""));
  assertEquals(statuses("POST", "/books/{id}/chapters"), "201,400,404,409,413,415,500,503,default");
});

test("successes have the headers that they can have", async () => {
  const { answered, operation, document } = await open();
  const created = ["ETag", "Location", "Preference-Applied"];
  assertEquals(answered("POST", "/books", 201), created);
  for (const status of [200, 201, 204]) {
    assertEquals(answered("PUT", "/books/{id}", status), created);
  }
  assertEquals(answered("PATCH", "/books", 200), ["Preference-Applied"]);
  assertEquals(answered("DELETE", "/notes", 204), ["Preference-Applied"]);
  const conflict = (path: string) => {
    const [, name = ""] = /([^/]+)$/.exec(operation("POST", path).responses[409]?.$ref ?? "") ?? [];
    return [name, Object.keys(document.components.responses[name]?.headers ?? {}).join()];
  };
  assertEquals(conflict("/orders"), ["ConflictOrUnderWay", "Retry-After"]);
  assertEquals(conflict("/books/{id}/chapters"), ["Conflict2", ""]);
});

const NEW = { slug: "emma", title: "Emma" };

test("a body of many is one entity or a list of them", async () => {
  const known = await open();
  const takes = (path: string, body: unknown) => known.takes("POST", path, body);
  for (const body of [NEW, [], [NEW], [NEW, NEW, NEW]]) assert(takes("/books", body));
  for (const body of [[NEW, {}], [[NEW]], Array(4).fill(NEW), "a"]) {
    assertEquals(takes("/books", body), false);
  }
  assertEquals([takes("/orders", {}), takes("/orders", [{}])], [true, false]);
  const chapters = "/books/{id}/chapters";
  assertEquals([takes(chapters, [{ title: "a" }]), takes(chapters, [{}])], [true, false]);
});

test("a change of many takes the fields that are listed, and no others", async () => {
  const known = await open();
  assertEquals(known.schemaOf("PATCH", "/books"), { $ref: "#/components/schemas/BookChanges" });
  const changes = (body: unknown) => known.takes("PATCH", "/books", body);
  for (const body of [{}, { state: "sold" }, { tags: ["a"] }, { tags: null }]) {
    assert(changes(body), JSON.stringify(body));
  }
  for (const body of [{ title: "a" }, { state: null }, { _id: "a" }, { nmae: 1 }, []]) {
    assertEquals(changes(body), false, JSON.stringify(body));
  }
  const { description } = known.operation("PATCH", "/books").requestBody ?? {};
  assert(description?.includes("merge patch"));
});

test("a replacement needs what a creation needs, but for the key of its path", async () => {
  const known = await open();
  const takes = (path: string, body: unknown) => known.takes("PUT", path, body);
  for (const body of [{ title: "a" }, NEW, { ...NEW, tags: [] }]) {
    assert(takes("/books/{id}", body));
  }
  for (const body of [{}, { slug: "a" }, [NEW]]) assertEquals(takes("/books/{id}", body), false);
  assertEquals([takes("/notes/{id}", { text: "a" }), takes("/notes/{id}", {})], [true, false]);
  const { requestBody } = known.operation("PUT", "/books/{id}");
  assertEquals(requestBody?.content["application/json"]?.example, { title: "Emma" });
});

const ID = "0123456789abcdef01234567";
const BOOK = { _id: ID, ...NEW, state: "open", tags: [], chapters: [], __v: 0 };

test("answers of many are one entity, a list, counts or fates", async () => {
  const { answer, validator } = await open();
  const isNew = validator(answer("POST", "/books", 201));
  assertEquals([isNew(BOOK), isNew([]), isNew([BOOK]), isNew([{}])], [true, true, true, false]);
  const isFate = validator(answer("POST", "/notes", 207));
  const errors = { text: { message: "Missing", kind: "required" } };
  const fates = [
    { status: 201, _id: ID },
    { status: 400, code: "BAD_DATA", message: "No", errors },
  ];
  assert(isFate(fates), JSON.stringify(isFate.errors));
  assertEquals([isFate([{ _id: ID }]), isFate({})], [false, false]);
  const isCount = validator(answer("PATCH", "/books"));
  assertEquals([isCount({ matched: 1, modified: 0 }), isCount({ matched: 1 }), isCount([])], [
    ...[true, false, false],
  ]);
  const isPart = validator(answer("PATCH", "/notes", 207));
  const failed = [{ _id: ID, status: 409, code: "CONFLICT", message: "No" }];
  assert(isPart({ matched: 2, modified: 1, failed }), JSON.stringify(isPart.errors));
  assertEquals(isPart({ matched: 2, modified: 1 }), false);
  const put = [200, 201].map((status) => answer("PUT", "/books/{id}", status));
  assertEquals(put, Array(2).fill({ $ref: "#/components/schemas/Book" }));
});

Deno.test("describe() tells what the options of writes allow", () => {
  const routes = Framework.describe({ models: WRITTEN });
  const writes = (method: string, path: string) =>
    routes.find((route) => route.path === path && route.method === method)?.writes;
  assertEquals(writes("POST", "/books"), { many: 3, atomic: true, keepMS: 7_200_000 });
  assertEquals(writes("POST", "/notes"), { many: 2, atomic: false });
  assertEquals(writes("POST", "/orders"), { keepMS: 30_000 });
  assertEquals(writes("PATCH", "/books"), { atomic: true, max: 10 });
  assertEquals(writes("PATCH", "/notes"), { atomic: false, max: 1000 });
  assertEquals(writes("PATCH", "/books/:id/chapters"), { atomic: true });
  assertEquals(writes("DELETE", "/books"), { max: 5 });
  assertEquals(writes("PUT", "/books/:id"), { by: "slug" });
  assertEquals(writes("PUT", "/notes/:id"), { by: "_id" });
  assertEquals([writes("DELETE", "/notes"), writes("GET", "/books")], [undefined, undefined]);
});

Deno.test("describe() has bodies, answers and headers of writes", () => {
  const routes = Framework.describe({ models: WRITTEN });
  const route = (method: string, path: string) => {
    const found = routes.find((each) => each.path === path && each.method === method);
    if (found === undefined) throw new Error(`There is no ${method} ${path}`);
    return found;
  };
  const changes = route("PATCH", "/books");
  assertEquals(changes.body?.map(({ name }) => name), ["state", "tags"]);
  assertEquals([changes.answer, changes.answerSchema?.required], [[], ["matched", "modified"]]);
  assertEquals(changes.headers, [{
    ...{ name: "Prefer", required: false, preferences: ["max-affected"] },
  }]);
  assertEquals(changes.parameters, [{ name: "q", in: "query", required: true }]);
  const required = route("PUT", "/books/:id").body?.filter((field) => field.required);
  assertEquals(required?.map(({ name }) => name), ["title"]);
  assertEquals(route("POST", "/books").headers.at(-1), {
    ...{ name: "Idempotency-Key", required: true },
  });
});
