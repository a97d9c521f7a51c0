import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { IncomingHttpHeaders } from "node:http";
import { ApiError, connect, type ConnectOptions } from "@mongrove/mongrove/client";
import type { Film } from "../fixtures/studio.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";

const id = "0123456789abcdef01234567";

const KEY = "mgv_key";

/** A client without a server, and the keys and URLs that it sends. */
function record(options: ConnectOptions = { apiKey: KEY }) {
  const sent: [key: string | null, path: string][] = [];
  const fetch = (url: string, { headers }: RequestInit) => {
    const given = new Headers(headers);
    sent.push([given.get("x-api-key"), new URL(url).pathname]);
    const status = given.get("accept") === "text/event-stream" ? 404 : 200;
    const answer = url.endsWith("/batch") ? { responses: [{ status: 200, headers: {} }] } : [];
    return Promise.resolve(Response.json(answer, { status }));
  };
  const api = connect("http://x", { fetch, ...options });
  return { api, films: api.resource<Film>("/films"), sent };
}

test("apiKey is sent with each kind of request", async () => {
  const { api, films, sent } = record({ apiKey: KEY, queryMethod: true });
  await films.all();
  await films.all({ q: { name: "a".repeat(2000) } });
  await films.remove(id);
  await films.part("reviews", id).all();
  await films.action("close", id);
  await assertRejects(() => films.live().next(), ApiError);
  const file = api.resource<Film>("/films").file("poster" as never, id) as {
    put(blob: Blob): Promise<unknown>;
    get(): Promise<unknown>;
  };
  await file.put(new Blob(["a"]));
  await file.get();
  await api.batch((batch) => [batch.resource<Film>("/films").one(id)]);
  const [one, part] = [`/films/${id}`, `/films/${id}/reviews`];
  const others = [`/films/${id}/close`, "/films", `/films/${id}/poster`, `/films/${id}/poster`];
  const paths = ["/films", "/films", one, part, ...others, "/batch"];
  assertEquals(sent, paths.map((path) => [KEY, path]));
});

test("apiKey may be a function, asked before each attempt, and a header of a call replaces it", async () => {
  let count = 0;
  const { films, sent } = record({ apiKey: () => Promise.resolve(`k${++count}`) });
  await films.all();
  await films.all();
  await films.all({ headers: { "X-Api-Key": "other" } });
  assertEquals(sent.map(([key]) => key), ["k1", "k2", "other"]);
  const without = record({});
  await without.films.all();
  assertEquals(without.sent, [[null, "/films"]]);
});

test("apiKey and the header authorization are refused by connect()", () => {
  const headers = [{ Authorization: "Bearer a" }, new Headers({ authorization: "a" })];
  for (const each of headers) {
    assertThrows(
      () => connect("http://x", { apiKey: KEY, headers: each }),
      TypeError,
      "Cannot connect: apiKey beside the header authorization",
    );
  }
  connect("http://x", { apiKey: KEY, headers: { "x-desk": "north" } });
});

test("apiKey goes to no other origin, by a redirect or a path", async () => {
  const seen: IncomingHttpHeaders[] = [];
  await using other = await serve((req, res) => {
    seen.push(req.headers);
    res.end("[]");
  });
  await using first = await serve((_req, res) => {
    res.writeHead(307, { location: `${other.url}/films` }).end();
  });
  const { all } = connect(first.url, { apiKey: KEY }).resource<Film>("/films");
  const { status } = await assertRejects(() => all(), ApiError);
  assertEquals([status, seen], [307, []]);
  await connect(first.url).resource<Film>("/films").all();
  assertEquals(seen.length, 1);
  const { api } = record();
  for (const path of [`${other.url}/films`, "//evil.test/films", "@evil.test/films"]) {
    assertThrows(() => api.resource<Film>(path), TypeError, "must begin with a slash");
    const batch = () => api.batch((batch) => [batch.resource<Film>("/films").all()], { path });
    await assertRejects(batch, TypeError, "must begin with a slash");
  }
});
