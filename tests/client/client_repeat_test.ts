import { assertEquals, assertRejects } from "@std/assert";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError, connect, type ConnectOptions } from "@mongrove/mongrove/client";
import type { Film } from "../fixtures/studio.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";

/** What a server does with a request. */
type Step = (res: ServerResponse, req: IncomingMessage) => void;

const id = "0123456789abcdef01234567";
const busy: Step = (res) =>
  res.writeHead(503, { "retry-after": "0" }).end('{"code":"UNAVAILABLE","message":"Away"}');
const good: Step = (res) => res.writeHead(200).end(`{"_id":"${id}","name":"A","__v":0}`);
const late: Step = (res) => res.writeHead(503, { "retry-after": "9" }).end();
const cut: Step = (res) => res.destroy();
const half: Step = (res) => {
  res.writeHead(200, { "content-length": "100" }).write('{"_id":');
  setTimeout(() => res.destroy(), 20);
};
const silent: Step = () => {};

/** Serves the steps, one for each request, and a client of it. */
async function script(steps: readonly Step[], options: ConnectOptions = {}) {
  const asked: string[] = [];
  const served = await serve((req, res) => {
    asked.push(req.method ?? "");
    steps[asked.length - 1]?.(res, req);
  });
  const api = connect(served.url, options);
  return {
    api,
    films: api.resource<Film>("/films"),
    asked,
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

const FAILURES = { "a 503": busy, "a broken connection": cut, "half an answer": half };

for (const [name, failure] of Object.entries(FAILURES)) {
  test(`one() and all() are repeated after ${name}`, async () => {
    const list: Step = (res) => res.end("[]");
    await using server = await script([failure, failure, good, failure, list]);
    assertEquals((await server.films.one(id)).name, "A");
    assertEquals((await server.films.all()).items, []);
    assertEquals(server.asked.length, 5);
  });

  test(`update() without conditions is repeated after ${name}`, async () => {
    await using server = await script([failure, good]);
    assertEquals((await server.films.update(id, { name: "A" })).name, "A");
    assertEquals(server.asked, ["PATCH", "PATCH"]);
  });

  test(`no other write is repeated after ${name}`, async () => {
    await using server = await script(Array(8).fill(failure));
    const { films } = server;
    const calls = [
      () => films.create({ name: "A" }),
      () => films.update(id, { name: "A" }, { ifMatch: "*" }),
      () => films.update(id, { name: "A" }, { headers: { "if-match": "*" } }),
      () => films.update(id, { name: "A" }, { q: { year: 1 } }),
      () => films.update(id, { name: "A" }, { parameters: { q: "{}" } }),
      () => films.update(id, { name: "A", __v: 0 }),
      () => films.remove(id),
      () => films.removeAll({ q: {} }),
    ];
    for (const call of calls) await assertRejects(call);
    assertEquals(server.asked, ["POST", ...Array(5).fill("PATCH"), "DELETE", "DELETE"]);
  });
}

test("a batch is repeated after a lock alone", async () => {
  const locked: Step = (res) => res.writeHead(503).end('{"reason":"locked"}');
  const done: Step = (res) => res.end(`{"responses":[{"id":"0","status":200,"body":{"_id":"a"}}]}`);
  await using server = await script([locked, done, locked, busy, half]);
  const send = () => server.api.batch((batch) => [batch.resource<Film>("/films").one(id)]);
  await send();
  await assertRejects(send, ApiError, "Away");
  await assertRejects(send);
  assertEquals(server.asked.length, 5);
});

test("a call fails with its last answer after the last repetition", async () => {
  await using server = await script(Array(9).fill(busy), { retry: 2 });
  const error = await assertRejects(() => server.films.one(id), ApiError, "Away");
  assertEquals([error.status, error.code, server.asked.length], [503, "UNAVAILABLE", 3]);
});

test("a call fails at once if it would have to wait too long, or may not be repeated", async () => {
  const later: Step = (res) => res.writeHead(503, { "retry-after": "60" }).end();
  await using server = await script([later, busy]);
  const error = await assertRejects(() => server.films.one(id), ApiError);
  assertEquals([error.code, error.errors, error.body], ["HTTP_503", {}, undefined]);
  await using never = await script([busy, good], { retry: 0 });
  await assertRejects(() => never.films.one(id), ApiError);
});

test("other errors are not repeated", async () => {
  for (const status of [400, 404, 409, 412, 429, 500, 502]) {
    await using server = await script([(res) => res.writeHead(status).end("<html>"), good]);
    const error = await assertRejects(() => server.films.one(id), ApiError, `HTTP_${status}`);
    assertEquals([error.status, error.body, server.asked.length], [status, "<html>", 1]);
  }
});

test("an answer that is no JSON is an error, whatever its status", async () => {
  await using server = await script([(res) => res.end("<html>")]);
  const error = await assertRejects(() => server.films.one(id), ApiError);
  assertEquals([error.status, error.code, error.body], [200, "HTTP_200", "<html>"]);
});

test("all attempts send the body as it was at the call", async () => {
  const bodies: string[] = [];
  const step = (answer: Step): Step => (res, req) => {
    let text = "";
    req.on("data", (piece) => text += piece).on("end", () => {
      bodies.push(text);
      answer(res, req);
    });
  };
  const headers = () => Promise.resolve({ "x-user": "a" });
  await using server = await script([step(busy), step(good)], { headers });
  const form = { name: "A" };
  const call = server.films.update(id, form);
  form.name = "";
  await call;
  assertEquals(bodies, Array(2).fill('{"name":"A"}'));
});

test("timeoutMS ends a call, with its repetitions", async () => {
  await using server = await script([silent, silent], { timeoutMS: 50 });
  const error = await assertRejects(() => server.films.one(id), DOMException);
  assertEquals([error.name, error.message], ["TimeoutError", "No answer within 50 ms"]);
  await using pausing = await script([late, good]);
  const paused = pausing.films.one(id, { timeoutMS: 1000 });
  assertEquals((await assertRejects(() => paused, DOMException)).name, "TimeoutError");
  assertEquals(pausing.asked.length, 1);
});

test("signal ends a call with its reason, before, while it waits, and while it pauses", async () => {
  const reason = new RangeError("enough");
  await using server = await script([], {});
  const before = AbortSignal.abort(reason);
  await assertRejects(() => server.films.one(id, { signal: before }), RangeError, "enough");
  assertEquals(server.asked.length, 0);
  for (const step of [silent, late]) {
    const controller = new AbortController();
    const abort: Step = (res, req) => {
      step(res, req);
      setTimeout(() => controller.abort(reason), 20);
    };
    await using open = await script([abort]);
    const call = open.films.one(id, { signal: controller.signal });
    await assertRejects(() => call, RangeError, "enough");
    assertEquals(open.asked.length, 1);
  }
});

test("an error of the headers function is the caller's, and is not repeated", async () => {
  let calls = 0;
  const headers = () => Promise.reject(new RangeError(`no token ${++calls}`));
  await using server = await script([good], { headers });
  await assertRejects(() => server.films.one(id), RangeError, "no token 1");
  assertEquals([server.asked, calls], [[], 1]);
});

test("a request says what it accepts and what it sends, and credentials reach fetch()", async () => {
  const seen: (string | undefined)[] = [];
  const look: Step = (res, req) => {
    seen.push(req.headers.accept, req.headers["content-type"]);
    good(res, req);
  };
  const inits: (string | undefined)[] = [];
  const spy: ConnectOptions["fetch"] = (url, init) => {
    inits.push(init.credentials);
    return fetch(url, init);
  };
  await using server = await script([look, look], { credentials: "include", fetch: spy });
  await server.films.one(id);
  await server.films.create({ name: "A" });
  assertEquals(seen, ["application/json", undefined, "application/json", "application/json"]);
  assertEquals(inits, ["include", "include"]);
});

test("a link to the next page is followed below the same URL only", async () => {
  const elsewhere: Step = (res) =>
    res.writeHead(200, { link: '</a>; rel="first", <https://evil.test/x?after=1>; rel="next"' })
      .end("[]");
  const urls: string[] = [];
  const last: Step = (res, req) => {
    urls.push(req.url ?? "");
    res.end("[]");
  };
  await using server = await script([elsewhere, last]);
  await Array.fromAsync(server.films.each());
  assertEquals(urls, ["/films?after=1"]);
});

test("next alone makes the request for a page", async () => {
  const urls: string[] = [];
  const list: Step = (res, req) => {
    urls.push(req.url ?? "");
    res.end("[]");
  };
  await using server = await script([list]);
  await server.films.all({ next: "after=1&sort=name", sort: ["-year"], limit: 5, q: {} });
  assertEquals(urls, ["/films?after=1&sort=name"]);
});

test("a total comes from either header, and not from a range without one", async () => {
  const totals = [
    [{ "content-range": "items 0-1/7" }, 7],
    [{ "content-range": "items */0" }, 0],
    [{ "content-range": "items 0-1/*" }, undefined],
    [{ "x-total-count": "9" }, 9],
  ] as const;
  const steps = totals.map(([headers]): Step => (res) => res.writeHead(200, headers).end("[]"));
  await using server = await script(steps);
  for (const [headers, total] of totals) {
    assertEquals([headers, (await server.films.all()).total], [headers, total]);
  }
});

test("an aborted call has the reason of its signal, whatever fetch() throws", async () => {
  const controller = new AbortController();
  const given: ConnectOptions["fetch"] = () => {
    controller.abort(new RangeError("enough"));
    return Promise.reject(new TypeError("Failed to fetch"));
  };
  await using server = await script([], { fetch: given });
  const call = server.films.one(id, { signal: controller.signal });
  await assertRejects(() => call, RangeError, "enough");
});

test("an answer with the tag of the known one is the known one", async () => {
  const tagged: Step = (res) =>
    res.writeHead(200, { etag: '"0.a"' }).end(`{"_id":"${id}","name":"A"}`);
  await using server = await script([tagged, tagged]);
  const known = await server.films.one(id);
  assertEquals(Object.is(await server.films.one(id, { known }), known), true);
});
