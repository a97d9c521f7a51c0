import { assert, assertEquals } from "@std/assert";
import { request as openRequest } from "node:http";
import { gzipSync } from "node:zlib";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import { create, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { longTest, test } from "../../harness/testing.ts";
import { mount, type Mounted } from "../../support/support.ts";
import { until } from "../../support/until.ts";

class Row extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

const options = { many: 1000, atomic: false, formats: ["ndjson"] } as const;

let hooksRun = 0;

function count<E extends object>(_req: unknown, entity: E): E {
  hooksRun++;
  return entity;
}

@rest({ route: "/plain", methods: [create(options)] })
class Plain extends Row {}

/** The size of a batch that holds a whole body. */
const large = { ...options, many: 100_000 } as const;

@rest({ route: "/large", methods: [create(large)] })
class Large extends Row {}

@rest({ route: "/hooked", methods: [create({ ...large, preSave: count as never })] })
class Hooked extends Row {}

const MODELS = [Plain, Large, Hooked];

const LINES = { "content-type": "application/x-ndjson" };

interface Sent {
  readonly raw: Uint8Array<ArrayBuffer>;
  readonly path?: string;
  readonly isGzip?: boolean;
}

interface Told {
  readonly line: number;
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
  readonly limit?: number;
}

async function send(app: Mounted, { raw, path = "/plain", isGzip = false }: Sent): Promise<Told[]> {
  const headers = { ...LINES, ...isGzip && { "content-encoding": "gzip" } };
  const { status, text } = await app.send("POST", path, { raw, headers });
  assertEquals(status, 207, text);
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

/** The longest turn of the event loop while something runs, as a share of the whole time: other load changes both. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  let last = begun;
  let longest = 0;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(tick, 1);
  await work().finally(() => clearInterval(timer));
  tick();
  return longest / (performance.now() - begun);
}

const text = (line: string, times: number) => new TextEncoder().encode(line.repeat(times));

const gzip = (line: string, times: number): Sent => ({
  raw: new Uint8Array(gzipSync(text(line, times))),
  isGzip: true,
});

const GOOD = '{"name":"a"}\n';

/** Bodies that are much work for one batch. */
const BUSY: Readonly<Record<string, Sent>> = {
  "lines that are no JSON": { raw: text("x\n".repeat(9000) + GOOD, 10) },
  "lines with wrong data": { raw: text("{}\n".repeat(9000) + GOOD, 2) },
  "lines with wrong data and hooks": { raw: text("{}\n", 9000), path: "/hooked" },
  "lines that are right": { raw: text(GOOD, 40_000) },
  "empty lines, compressed": gzip("\n", 20_000_000),
  "lines that are no JSON, compressed": gzip("x\n".repeat(9000) + GOOD, 10),
};

for (const [name, sent] of Object.entries(BUSY)) {
  const register = name === "lines that are right" ? test : longTest;
  register(`an import of ${name} leaves turns of the event loop to others`, async () => {
    await using app = await mount(MODELS);
    await send(app, { path: "/large", ...sent, raw: text(GOOD, 10), isGzip: false });
    const share = await longestTurn(() => send(app, { path: "/large", ...sent }));
    assert(share < 0.4, `One turn took ${Math.round(share * 100)}% of the time`);
  });
}

longTest("an array of many entities leaves turns of the event loop to others", async () => {
  const prepare = (app: Express) => app.use(express.json({ limit: "2mb" }));
  await using app = await mount(MODELS, { prepare });
  for (const [path, body] of [["/hooked", { name: "a" }], ["/large", {}]] as const) {
    const bodies = (count: number) => Array.from({ length: count }, () => body);
    await app.post(path, bodies(10));
    const share = await longestTurn(async () => {
      assertEquals((await app.post(path, bodies(9000))).status, 207);
    });
    assert(share < 0.4, `One turn took ${Math.round(share * 100)}% of the time`);
  }
});

test("an import ends after 10,000 refused lines in a row", async () => {
  await using app = await mount(MODELS);
  for (const line of ["x\n", "{}\n"]) {
    const told = await send(app, { raw: text(line, 30_000) });
    const { length } = told;
    const { line: last, status, code, limit } = told.at(-1) as Told;
    assertEquals([last, status, code, limit], [length, 413, "PAYLOAD_TOO_LARGE", 10_000]);
    assert(length <= 12_001, `${length} lines`);
  }
  const mixed = await send(app, { raw: text('x\n{"name":"a"}\n', 11_000) });
  assertEquals([mixed.length, mixed.at(-1)?.status], [22_000, 201]);
  assertEquals(await getModel(Plain).countDocuments(), 11_000);
});

test("an import takes 100 times its compressed size, and 10 MB of any", async () => {
  await using app = await mount(MODELS);
  const small = await send(app, gzip('{"name":"a"}\n', 5000));
  assertEquals([small.length, small.at(-1)?.status], [5000, 201]);
  const [last, ...others] = (await send(app, gzip(" \n", 10_000_000))).reverse();
  assertEquals([last?.status, last?.code, others], [413, "PAYLOAD_TOO_LARGE", []]);
});

test("limits.body.maxImportBytes bounds an import", async () => {
  await using app = await mount(MODELS, { limits: { body: { maxImportBytes: 1000 } } });
  const raw = text('{"name":"a"}\n', 500);
  const whole = await app.send<Told>("POST", "/plain", { raw, headers: LINES });
  assertEquals([whole.status, whole.body.limit], [413, 1000]);
  assertEquals(await getModel(Plain).countDocuments(), 0);
  const last = (await send(app, { ...gzip('{"name":"a"}\n', 500) })).at(-1);
  assertEquals([last?.status, last?.code, last?.limit], [413, "PAYLOAD_TOO_LARGE", 1000]);
  const fits = await send(app, { raw: text('{"name":"a"}\n', 70) });
  assertEquals([fits.length, fits.at(-1)?.status], [70, 201]);
});

test("a long line with more than a body may hold is refused before it is parsed", async () => {
  await using app = await mount(MODELS);
  const long = [
    `{"a":${"[".repeat(400_000)}${"]".repeat(400_000)}}`,
    `{"name":"a","b":[${Array(300_000).fill("{}").join()}]}`,
    `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join()}}`,
  ];
  const allowed = [
    JSON.stringify({ name: "}],[{".repeat(100_000) }),
    JSON.stringify({ name: '"\\'.repeat(100_000) }),
  ];
  const told = await send(app, { raw: text([...long, ...allowed].join("\n"), 1) });
  assertEquals(told.map(({ status }) => status), [400, 400, 400, 201, 201]);
  assert(told.slice(0, 3).every(({ code }) => code === "BAD_FORMAT"));
});

test("a compressed import ends when its client leaves", async () => {
  await using app = await mount(MODELS);
  const lines = Array.from({ length: 300_000 }, (_, index) => `{"name":"${index}"}`).join("\n");
  const headers = { ...LINES, "content-encoding": "gzip" };
  const request = openRequest(`${app.url}/hooked`, { method: "POST", headers });
  request.on("error", () => {});
  hooksRun = 0;
  request.end(gzipSync(lines));
  await until(() => hooksRun > 1000);
  request.destroy();
  await until(async () => {
    const before = hooksRun;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return hooksRun === before;
  });
  assert(hooksRun < 250_000, `${hooksRun} lines`);
});
