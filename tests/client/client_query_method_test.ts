import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError, connect, type FetchFunction } from "@mongrove/mongrove/client";
import { fetch as undiciFetch } from "npm:undici@^7";
import { all, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

@rest({
  route: "/stars",
  methods: [
    all({
      page: { size: 2, max: 10 },
      sort: ["rank"],
      select: ["name"],
      groups: { by: ["name"], sum: ["rank"] },
      count: true,
    }),
    one(),
  ],
})
class Star extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
}

const LONG = Array.from({ length: 300 }, (_, index) => `name ${index}`);
const q = { name: { $in: LONG } };

/** Remembers what it sends. */
function watched(inner: FetchFunction) {
  const sent: string[] = [];
  const fetch: FetchFunction = (url, init) => {
    sent.push(`${init.method} ${new URL(url).pathname}${new URL(url).search && "?"}`);
    return inner(url, init);
  };
  return { sent, fetch };
}

async function open() {
  const app = await mount([Star], { queryMethod: true, limits: { query: { maxList: 1000 } } });
  const stars = LONG.slice(0, 5).map((name, rank) => ({ name, rank }));
  await getModel(Star).create(stars);
  return app;
}

for (
  const [name, inner] of Object.entries({ fetch, undici: undiciFetch as unknown as FetchFunction })
) {
  test(`the client reads the pages of a long filter by QUERY, with ${name}`, async () => {
    await using app = await open();
    const { sent, fetch } = watched(inner);
    const stars = connect(app.url, { fetch, queryMethod: true }).resource<Star>("/stars");
    const names: unknown[] = [];
    for await (const { name } of stars.each({ q, sort: ["-rank"], select: ["name"] })) {
      names.push(name);
    }
    assertEquals(names, LONG.slice(0, 5).reverse());
    assertEquals(sent, ["QUERY /stars", "QUERY /stars", "QUERY /stars"]);
    const page = await stars.all({ q, skip: 1, sort: ["rank"], count: true });
    assertEquals([page.items.length, page.total], [2, 5]);
    const next = await stars.all({ next: page.next });
    assertEquals(next.items.map(({ rank }) => rank), [3, 4]);
    const groups = await stars.groups({ by: ["name"], sum: ["rank"], q });
    assertEquals(groups.length, 5);
    assert(sent.every((each) => each === "QUERY /stars"));
  });
}

test("the client sends short filters, and reads of one entity, by GET", async () => {
  await using app = await open();
  const { sent, fetch: watching } = watched(fetch);
  const stars = connect(app.url, { fetch: watching, queryMethod: true }).resource<Star>("/stars");
  const { items: [star] } = await stars.all({ q: { name: "name 1" } });
  await stars.one(star?._id ?? "", { headers: {} });
  assertEquals(sent, ["GET /stars?", `GET /stars/${star?._id}`]);
  const others = connect(app.url, { fetch: watching }).resource<Star>("/stars");
  await others.all({ q });
  assertEquals(sent.at(-1), "GET /stars?");
});

test("the client sends a URL of 2000 characters by GET, and a longer one by QUERY", async () => {
  const sent: string[] = [];
  const answering: FetchFunction = (url, { method = "" }) => {
    sent.push(method === "GET" ? `GET ${url.length}` : method);
    return Promise.resolve(Response.json([]));
  };
  const options = { fetch: answering, queryMethod: true };
  const stars = connect("https://example.org", options).resource<Star>("/stars");
  const search = (length: number) => stars.all({ search: "a".repeat(length) });
  const start = "https://example.org/stars?search=".length;
  await search(2000 - start);
  await search(2001 - start);
  assertEquals(sent, ["GET 2000", "QUERY"]);
});

test("the client fails with what the server says of a long filter", async () => {
  await using app = await open();
  const stars = connect(app.url, { queryMethod: true }).resource<Star>("/stars");
  const wrong = { other: { $in: LONG } } as never;
  const { status, body } = await assertRejects(() => stars.all({ q: wrong }), ApiError);
  assertEquals([status, (body as { code: string }).code], [400, "BAD_FORMAT"]);
});
