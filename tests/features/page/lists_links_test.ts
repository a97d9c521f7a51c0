import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { all, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { mountPieces, pieceId, ranked } from "../../fixtures/pieces.ts";
import { requestRaw } from "../../harness/request_raw.ts";
import { test } from "../../harness/testing.ts";
import { linksOf, readPages } from "./links.ts";
import { mount } from "../../support/support.ts";

test("a link keeps the other parameters of the client", async () => {
  await using app = await mountPieces(ranked(5));
  for (const list of app.lists) {
    const kept = "q=%7B%7D&limit=2&mine=a%26b%3Dc&empty=&mine=%C3%A9";
    const { next = "" } = linksOf(await app.get(`${list}?${kept}&after=${pieceId(0)}`));
    assertEquals(next, `${list}?${kept}&after=${pieceId(2)}`);
    const skipped = linksOf(await app.get(`${list}?${kept}&skip=1`));
    assertEquals(skipped.next, `${list}?${kept}&skip=3`);
    assertEquals(skipped.prev, `${list}?${kept}`);
  }
});

test("a link has the path under which the routes are mounted", async () => {
  for (const [at, before] of [["/api/v1", "/api/v1"], ["/:tenant/x", "/a%20b/x"]] as const) {
    await using app = await mountPieces(ranked(5), { at });
    const { next } = linksOf(await app.get(`${before}/bare?limit=2`));
    assertEquals(next, `${before}/bare?limit=2&after=${pieceId(1)}`);
  }
});

test("a link is a path of this server, whatever the request line says", async () => {
  await using app = await mountPieces(ranked(5), { at: /^.*(?=\/bare)/ });
  const ask = async (target: string) => {
    const headers = "Host: evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close";
    const reply = await requestRaw(app.url, `GET ${target} HTTP/1.1\r\n${headers}\r\n\r\n`);
    return /<(.*)>; rel="next"$/.exec(reply.headers.link ?? "")?.[1];
  };
  const query = `?limit=2&after=${pieceId(1)}`;
  assertEquals(await ask("//evil.example/bare?limit=2"), `/evil.example/bare${query}`);
  assertEquals(await ask("/\\evil.example/bare?limit=2"), `/evil.example/bare${query}`);
  assertEquals(await ask("///evil.example/bare?limit=2"), `/evil.example/bare${query}`);
  assertEquals(await ask('/a>b"c<d/bare?limit=2'), `/a%3Eb%22c%3Cd/bare${query}`);
  assertEquals(await ask("/a%0d%0aX:1/bare?limit=2"), `/a%0d%0aX:1/bare${query}`);
  assertEquals(
    await ask('/bare?x=<>";,%0d%0a&limit=2'),
    `/bare?x=%3C%3E%22%3B%2C%0D%0A&limit=2&after=${pieceId(1)}`,
  );
});

test("a link of the route / is an absolute path", async () => {
  @rest({ route: "/", methods: [all({ page: { max: 1 } })] })
  class Home extends FrameworkModel {}
  await using app = await mount([Home]);
  const [, last] = await getModel(Home).create([{}, {}, {}]);
  const second = linksOf(await app.get("/?skip=1"));
  assertEquals(second, { next: "/?skip=2", prev: "/", first: "/" });
  assertEquals(linksOf(await app.get(`/?after=${last?._id}`)), {});
});

test("the host's own Link stays", async () => {
  @rest({
    route: "/linked",
    methods: [all({
      page: { max: 1 },
      preFetch: (req) => {
        req.res?.setHeader("Link", '</help>; rel="help"');
        return true;
      },
    })],
  })
  class Linked extends FrameworkModel {}
  await using app = await mount([Linked]);
  const [first] = await getModel(Linked).create([{}, {}]);
  assertEquals(linksOf(await app.get("/linked")), {
    help: "/help",
    next: `/linked?after=${first?._id}`,
  });
});

test("pages link by skip where no identifier can name the last entity", async () => {
  @rest({ route: "/named", methods: [all({ page: { max: 2 }, sort: ["n"] })] })
  @rest({
    route: "/seen",
    methods: [all({ page: { max: 2 }, postFetch: (_req, entity) => entity })],
  })
  class Named extends FrameworkModel {
    @prop({ type: Number })
    n?: number;
    static override configure(schema: Schema) {
      schema.add({ _id: String });
    }
  }
  await using app = await mount([Named]);
  const named = ["a", "b", "c", "d", "e"].map((_id, n) => ({ _id, n: -n }));
  await getModel(Named).collection.insertMany(named as never);
  for (
    const [path, names] of [["/named", "abcde"], ["/named?sort=n", "edcba"], ["/seen", "abcde"]]
  ) {
    const pages = await readPages(app, path as string);
    const shown = pages.flatMap(({ body }) => (body as { _id: string }[]).map(({ _id }) => _id));
    assertEquals([pages.length, shown.join("")], [3, names]);
  }
});
