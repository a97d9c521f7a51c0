import { assertEquals } from "@std/assert";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  remove,
  rest,
  RestError,
} from "../../mod.ts";
import { client } from "../support/client.ts";
import { openDatabase } from "../harness/database.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
// @ts-types="express-types"
import express from "express";

const PROBLEM = "application/problem+json";
const HEADERS = { accept: PROBLEM };

@rest({
  route: "/books",
  methods: [
    one({
      postFetch: (req, book) => {
        if (req.query.text !== undefined) throw new RestError(402, "Pay first");
        if (req.query.object !== undefined) throw new RestError(402, { pay: 5 });
        if (req.query.bug !== undefined) throw new Error("A secret of the host");
        return book;
      },
    }),
    create(),
  ],
})
class Book extends FrameworkModel {
  @prop({ required: true })
  title!: string;
}

test("an error is problem details for a client that asks for them", async () => {
  await using api = await mount([Book]);
  const { status, headers, body } = await api.post("/books", { title: [] }, { headers: HEADERS });
  assertEquals(status, 400);
  assertEquals(headers.get("content-type"), PROBLEM);
  assertEquals(headers.get("vary"), "Accept");
  assertEquals<unknown>(body, {
    type: "about:blank",
    title: "Bad Request",
    status: 400,
    detail: "The data is not valid",
    code: "BAD_DATA",
    errors: { title: { message: 'Value at "title" cannot be read as String', kind: "String" } },
  });
});

test("a RestError with a message becomes problem details, one with an object stays as it is", async () => {
  await using api = await mount([Book]);
  const { _id } = await api.created("/books", { title: "Dune" });
  const text = await api.get(`/books/${_id}?text`, { headers: HEADERS });
  assertEquals(text.body, {
    type: "about:blank",
    title: "Payment Required",
    status: 402,
    detail: "Pay first",
    code: "PAYMENT_REQUIRED",
  });
  const object = await api.get(`/books/${_id}?object`, { headers: HEADERS });
  assertEquals(object.headers.get("content-type"), "application/json; charset=utf-8");
  assertEquals(object.body, { pay: 5 });
});

class Page extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/albums", methods: [create(), one()], scope: () => ({ "pages.text": "keep" }) })
class Album extends FrameworkModel {
  @rest({ methods: [remove()] })
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
}

test("a 403 of a scope is problem details, whether a root or a part would leave it", async () => {
  await using api = await mount([Album]);
  const root = await api.post("/albums", { pages: [{ text: "no" }] }, { headers: HEADERS });
  const { _id, pages: [page] } = await api.created("/albums", { pages: [{ text: "keep" }] }) as {
    _id: string;
    pages: { _id: string }[];
  };
  const part = await api.delete(`/albums/${_id}/pages/${page?._id}`, { headers: HEADERS });
  assertEquals(part.body, {
    ...{ type: "about:blank", title: "Forbidden", status: 403 },
    ...{ detail: "The entity would be out of reach", code: "FORBIDDEN" },
  });
  assertEquals([root.status, root.body], [403, part.body]);
});

test("problem details of an unexpected error tell nothing of it", async () => {
  await using api = await mount([Book], { onError: () => new RestError(500, "Sorry") });
  const { _id } = await api.created("/books", { title: "Dune" });
  const { body } = await api.get(`/books/${_id}?bug`, { headers: HEADERS });
  const title = "Internal Server Error";
  assertEquals(body, {
    ...{ type: "about:blank", title, status: 500, detail: "Sorry" },
    code: "INTERNAL_SERVER_ERROR",
  });
});

for (
  const [accept, isProblem] of [
    ["application/json, application/problem+json", true],
    ["Application/Problem+JSON; q=0.5", true],
    ["application/problem+json;q=0", false],
    ["application/json", false],
    ["*/*", false],
    ["", false],
  ] as const
) {
  test(`Accept "${accept}" ${isProblem ? "gives" : "does not give"} problem details`, async () => {
    await using api = await mount([Book]);
    const { headers, body } = await api.get("/books/none", { headers: { accept } });
    const type = isProblem ? PROBLEM : "application/json; charset=utf-8";
    assertEquals(headers.get("content-type"), type);
    assertEquals(Object.hasOwn(body as object, "detail"), isProblem);
    assertEquals(headers.get("vary"), "Accept");
  });
}

test("success is JSON, whatever errors the client asks for", async () => {
  await using api = await mount([Book]);
  const { headers } = await api.post("/books", { title: "Dune" }, { headers: HEADERS });
  assertEquals(headers.get("content-type"), "application/json; charset=utf-8");
});

test("Framework.errors() gives problem details too", async () => {
  const app = express();
  app.use(express.json());
  app.get("/teapot", () => {
    throw Object.assign(new Error("Short and stout"), { status: 418 });
  });
  app.use(Framework.initialize({ models: [Book] }));
  app.use(Framework.errors());
  await using _database = await openDatabase();
  await using served = await serve(app);
  const { body } = await client(served).get("/teapot", { headers: HEADERS });
  assertEquals(body, {
    ...{ type: "about:blank", title: "I'm a Teapot", status: 418, detail: "Short and stout" },
    code: "IM_A_TEAPOT",
  });
});
