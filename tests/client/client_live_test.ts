import { assert, assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { ApiError, connect, type ConnectOptions } from "@mongrove/mongrove/client";
import type { Film } from "../fixtures/studio.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";

/** What a server does with a request. */
type Step = (res: ServerResponse, req: IncomingMessage) => unknown;

const event = (type: string, data: object, id?: string) =>
  `event: ${type}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
const put = (_id: string, name: string, rest: { after?: string | null; id?: string } = {}) => {
  const { id, ...order } = rest;
  return event("put", { entity: { _id, name }, ...order }, id);
};
const drop = (_id: string, id?: string) => event("drop", { _id }, id);
const ready = (id?: string) => event("ready", {}, id);
const resync = event("resync", {}, "");

const headers = { "content-type": "text/event-stream; charset=utf-8" };
/** Begins a stream. */
const stream = (res: ServerResponse, ...pieces: readonly (string | Uint8Array)[]) => {
  res.writeHead(200, headers).flushHeaders();
  for (const piece of pieces) res.write(piece);
};
const silent: Step = () => {};

/** Serves the steps, one for each request, and tells what the requests were. */
async function script(steps: readonly Step[], options: ConnectOptions = {}) {
  const asked: IncomingMessage[] = [];
  const served = await serve((req, res) => {
    asked.push(req);
    void steps[asked.length - 1]?.(res, req);
  });
  const api = connect(served.url, options);
  return {
    films: api.resource<Film>("/films"),
    asked,
    places: () => asked.map(({ headers }) => headers["last-event-id"]),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

/** Makes the time after which a silent connection is lost shorter than its 45 seconds. */
function quickenSilence(silenceMS: number): Disposable {
  const { setTimeout } = globalThis;
  const quick = (run: () => void, milliseconds?: number) =>
    setTimeout(run, milliseconds === 45_000 ? silenceMS : milliseconds);
  return stub(globalThis, "setTimeout", quick as typeof setTimeout);
}

type Lists = AsyncGenerator<{ readonly name: string }[], void, undefined>;

/** Gives the names in the next lists, up to one that has these. */
async function namesUntil(lists: Lists, last: string): Promise<string[]> {
  const seen: string[] = [];
  while (seen.at(-1) !== last) {
    const { value, done } = await lists.next();
    if (done) throw new Error(`It ended after ${seen}`);
    seen.push(value.map(({ name }) => name).join());
  }
  return seen;
}

test("live() gives the list, then what has changed in it, as new arrays of the same entities", async () => {
  let more: (text: string) => void = () => {};
  await using server = await script([(res) => {
    stream(res, put("1", "A"), put("2", "B"), ready("p1"));
    more = (text) => void res.write(text);
  }]);
  const lists = server.films.live({ q: { year: 1 }, sort: ["-name"], limit: 5 });
  const { value: first } = await lists.next();
  assert(first);
  const [asked] = server.asked;
  assertEquals([asked?.headers.accept, server.places()], ["text/event-stream", [undefined]]);
  assertEquals(decodeURIComponent(asked?.url ?? ""), '/films?q={"year":1}&sort=-name&limit=5');
  more(put("2", "b", { id: "p2" }));
  const { value: second } = await lists.next();
  assert(second);
  assertEquals(second.map(({ name }) => name), ["A", "b"]);
  assert(second !== first && second[0] === first[0] && first[1]?.name === "B");
  more(drop("1", "p3"));
  assertEquals(await namesUntil(lists, "b"), ["b"]);
  await lists.return();
});

test("live() puts entities where `after` says, and takes what comes twice", async () => {
  await using server = await script([(res) => {
    stream(
      res,
      put("1", "A", { after: null }) + put("2", "B", { after: "1" }) +
        put("3", "C", { after: "2" }),
      put("3", "C", { after: "2" }) + ready("p1") + put("3", "c", { after: null }),
      put("4", "D", { after: "1" }) + drop("2") + drop("2") +
        put("5", "E", { after: "4", id: "p" }),
    );
  }]);
  for await (const list of server.films.live()) {
    const names = list.map(({ name }) => name).join();
    if (names === "c,A,D,E") break;
  }
});

test("live() reads events wherever they are cut, with any line break, comments and unknown fields", async () => {
  const strange = "Ä😀\u2028\r: x";
  const text = [
    ":\n\nretry: 1\nfield\n",
    put("1", strange),
    `event:put\r\n:ping\r\ndata:{"entity":{"_id":"2",\r\ndata: "name":"B"}}\r\n\r\n`,
    `data: {"entity":\rdata:{"_id":"3","name":"C"}}\revent: put\rid: p\r\r`,
    event("future", { _id: "1" }) + "data: no\n\n",
    ready("p1") + `event: drop\rdata: {"_id":"2"}\r\r`,
  ].join("");
  const bytes = new TextEncoder().encode(`\uFEFF${text}`);
  for (const size of [1, 2, 7, bytes.length]) {
    await using server = await script([async (res) => {
      stream(res);
      for (let at = 0; at < bytes.length; at += size) {
        res.write(bytes.slice(at, at + size));
        if (size > 1 || at % 20 === 0) await wait(0);
      }
    }]);
    const lists = server.films.live();
    const seen = await namesUntil(lists, `${strange},C`);
    assert(seen.length <= 2, seen.join("; "));
    await lists.return();
  }
});

test("live() gives what comes together in few lists, and a slow reader only the last of them", async () => {
  const { promise: isWritten, resolve: tellWritten } = Promise.withResolvers<void>();
  await using server = await script([async (res) => {
    stream(res, ready());
    await wait(200);
    for (let index = 0; index < 50; index++) {
      res.write(put(String(index), "x"));
      await wait(1);
    }
    await wait(100);
    for (let index = 0; index < 50; index++) {
      await wait(2);
      res.write(drop(String(index)));
    }
    res.write(put("1", "end"), () => tellWritten());
  }]);
  const lengths = [];
  for await (const list of server.films.live()) {
    lengths.push(list.length);
    if (list[0]?.name === "end") break;
    if (list.length === 50) {
      await isWritten;
      await wait(200);
    }
  }
  assertEquals([lengths[0], ...lengths.slice(-2)], [0, 50, 1]);
  assert(lengths.length < 40, lengths.join());
});

test("live() shows nothing between resync and ready, whatever is cut there", async () => {
  await using server = await script([
    async (res) => {
      stream(res, put("1", "A"), put("2", "B"), ready("p1"));
      await wait(50);
      res.write(put("1", "a", { id: "p2" }) + resync + put("3", "C"));
      await wait(100);
      res.destroy();
    },
    async (res) => {
      stream(res, resync + put("4", "D", { id: "p3" }));
      await wait(100);
      res.write(put("5", "E") + ready("p5"));
      res.end();
    },
    (res) => stream(res, drop("4", "p6"), ready("p6")),
  ]);
  const lists = server.films.live();
  assertEquals(await namesUntil(lists, "E"), ["A,B", "D,E", "E"]);
  await lists.return();
  assertEquals(server.places().slice(2), ["p5"]);
});

test("live() continues at the last place whose events it has, and anew without one", async () => {
  const broken: unknown[] = [];
  await using server = await script([
    (res) => {
      stream(res, put("1", "A"), ready("p1"), drop("1", "p2"), put("2", "B"));
      setTimeout(() => res.destroy(), 100);
    },
    (res) => {
      stream(res, put("2", "B", { id: "p3" }) + ready());
      setTimeout(() => res.end(), 100);
    },
    (res) => {
      stream(res, ready(""));
      setTimeout(() => res.end(`event: put\nid: p4\ndata: {"entity":{"_id":"2"`), 100);
    },
    (res) => stream(res, put("3", "C"), ready()),
  ]);
  const lists = server.films.live({ onDisconnect: (error) => broken.push(error) });
  assertEquals((await namesUntil(lists, "C")).slice(-3), ["B", "B", "C"]);
  await lists.return();
  assertEquals(server.places(), [undefined, "p2", "p3", undefined]);
  assertEquals(broken.length, 1);
});

test("live() begins anew after an event that makes no sense", async () => {
  for (const wrong of [put("2", "B", { after: "7", id: "p2" }), "event: put\ndata: {\n\n"]) {
    const broken: unknown[] = [];
    const first = Promise.withResolvers<void>();
    await using server = await script([
      async (res) => {
        stream(res, put("1", "A"), ready("p1"));
        // A slow reader would be given the last list alone
        await first.promise;
        res.write(wrong);
      },
      (res) => stream(res, put("3", "C"), ready()),
    ]);
    const lists = server.films.live({ onDisconnect: (error) => broken.push(error) });
    assertEquals(await namesUntil(lists, "A"), ["A"]);
    first.resolve();
    assertEquals(await namesUntil(lists, "C"), ["C"]);
    await lists.return();
    assertEquals([server.places(), broken.length], [[undefined, undefined], 1]);
  }
});

test("live() notices a connection that has died, and heartbeats keep it", async () => {
  const broken: unknown[] = [];
  await using server = await script([
    async (res) => {
      stream(res, put("1", "A"), ready("p1"));
      for (let count = 0; count < 20; count++) {
        await wait(100);
        res.write(":\n\n");
      }
    },
    (res) => stream(res, put("1", "B"), ready("p2")),
  ]);
  using _quick = quickenSilence(800);
  const lists = server.films.live({ onDisconnect: (error) => broken.push(error) });
  await lists.next();
  const start = Date.now();
  assertEquals(await namesUntil(lists, "B"), ["B"]);
  assert(Date.now() - start > 2600);
  assertEquals(broken.map(String), ["TimeoutError: Nothing has come for 45000 ms"]);
  await lists.return();
});

test("live() fails if no first list comes: behind a proxy that keeps it, or from another route", async () => {
  await using keeping = await script(Array(9).fill((res: ServerResponse) => stream(res)));
  using _quick = quickenSilence(20);
  const kept = keeping.films.live().next();
  await assertRejects(() => kept, DOMException, "Nothing has come for 45000 ms");
  await using deaf = await script(
    Array(9).fill((res: ServerResponse) =>
      res.writeHead(200, { "content-type": "application/json" }).end("[]")
    ),
  );
  const message =
    "Cannot read a live list from application/json: the route needs all({ live: true })";
  await assertRejects(() => deaf.films.live().next(), TypeError, message);
  await using silence = await script([silent]);
  const late = silence.films.live({ timeoutMS: 50 }).next();
  await assertRejects(() => late, DOMException, "No answer within 50 ms");
});

test("live() fails if its first streams end without a list, or last long without one", async () => {
  const ending: Step = (res) => {
    stream(res, put("1", "A"));
    res.end();
  };
  await using cut = await script(Array(9).fill(ending));
  const message = "Cannot read a live list: its stream has ended before the list";
  await assertRejects(() => cut.films.live().next(), Error, message);
  assertEquals(cut.asked.length, 4);
  let now = Date.now();
  using _time = stub(Date, "now", () => now += 40_000);
  await using keeping = await script(Array(9).fill((res: ServerResponse) => stream(res)));
  using _quick = quickenSilence(20);
  const kept = keeping.films.live().next();
  await assertRejects(() => kept, DOMException, "Nothing has come for 45000 ms");
  assertEquals(keeping.asked.length, 4);
});

test("live() waits as long as a 503 says, and throws what else the server refuses", async () => {
  const busy: Step = (res) => res.writeHead(503, { "retry-after": "1" }).end('{"code":"BUSY"}');
  const refuse: Step = (res) => res.writeHead(403).end('{"code":"FORBIDDEN","message":"No"}');
  const first: Step = (res) => {
    stream(res, put("1", "A"), ready("p1"));
    setTimeout(() => res.end(), 50);
  };
  const broken: unknown[] = [];
  const longer: Step = (res) => res.writeHead(503, { "retry-after": "1" }).end();
  await using server = await script([busy, first, longer, longer, refuse], { retry: 1 });
  const start = Date.now();
  const lists = server.films.live({ onDisconnect: (error) => broken.push(error) });
  assertEquals(await namesUntil(lists, "A"), ["A"]);
  assert(Date.now() - start > 950);
  const error = await assertRejects(() => lists.next(), ApiError, "No");
  assertEquals([error.status, error.code], [403, "FORBIDDEN"]);
  assert(Date.now() - start > 2950);
  assertEquals(broken.map((each) => (each as ApiError).status), [503]);
  assertEquals(server.asked.length, 5);
  await using closed = await script([refuse]);
  await assertRejects(() => closed.films.live().next(), ApiError, "No");
});

test("live() follows a redirect, with its place", async () => {
  const redirect: Step = (res) => res.writeHead(307, { location: "/elsewhere" }).end();
  await using server = await script([
    redirect,
    (res) => {
      stream(res, put("1", "A"), ready("p1"));
      setTimeout(() => res.end(), 50);
    },
    redirect,
    (res) => stream(res, put("1", "B"), ready("p2")),
  ]);
  const lists = server.films.live();
  assertEquals((await namesUntil(lists, "B")).at(0), "A");
  await lists.return();
  assertEquals(server.places(), [undefined, undefined, "p1", "p1"]);
});

test("live() ends its connection on break and on abort, which is no error", async () => {
  const closed: number[] = [];
  const open: Step = (res) => {
    stream(res, put("1", "A"), ready("p1"));
    res.on("close", () => closed.push(1));
  };
  await using server = await script([open, open]);
  for await (const _list of server.films.live()) break;
  await until(() => closed.length === 1);
  const controller = new AbortController();
  const { signal } = controller;
  for await (const _list of server.films.live({ signal })) {
    setTimeout(() => controller.abort(), 20);
  }
  await until(() => closed.length === 2);
  for await (const _list of server.films.live({ signal })) throw new Error("It is over");
  assertEquals(server.asked.length, 2);
});

test("live() gives nothing after abort, not even what has come before", async () => {
  await using server = await script([async (res) => {
    stream(res, put("1", "A"), ready("p1"));
    await wait(50);
    res.write(put("1", "B", { id: "p2" }));
  }]);
  const controller = new AbortController();
  const names = [];
  for await (const [film] of server.films.live({ signal: controller.signal })) {
    names.push(film?.name);
    await wait(100);
    controller.abort();
  }
  assertEquals(names, ["A"]);
});

test("live() ends on abort before the first answer, and in a pause", async () => {
  for (const step of [silent, (res: ServerResponse) => void res.destroy()]) {
    await using server = await script([step]);
    const signal = AbortSignal.timeout(100);
    assertEquals(await server.films.live({ signal }).next(), { done: true, value: undefined });
  }
  await using server = await script([(res) => {
    stream(res, put("1", "A"), ready("p1"));
    setTimeout(() => res.end(), 20);
  }, (res) => void res.writeHead(503, { "retry-after": "3600" }).end()]);
  const signal = AbortSignal.timeout(1500);
  assertEquals((await Array.fromAsync(server.films.live({ signal }))).length, 1);
});

test("live() makes dates of the named fields, and asks for headers each time", async () => {
  const date = new Date(0);
  const entity = { _id: "1", name: "A", createdAt: date };
  let count = 0;
  await using server = await script([
    (res) => stream(res, event("put", { entity }) + ready()),
  ], { headers: () => ({ authorization: `Bearer ${++count}`, accept: "application/json" }) });
  for await (const [film] of server.films.live({ revive: ["createdAt"] })) {
    assertEquals(film?.createdAt, date);
    break;
  }
  const { authorization, accept } = server.asked[0]?.headers ?? {};
  assertEquals([authorization, accept], ["Bearer 1", "text/event-stream"]);
});
