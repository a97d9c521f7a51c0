// Runs alone: it measures the memory of its isolate.
import { assert, assertEquals } from "@std/assert";
import { once } from "node:events";
import { request as openRequest } from "node:http";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { longTest, test } from "../../harness/testing.ts";
import { failCommand } from "../many/many.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";
import { memoryOf } from "../../support/memory_of.ts";
import { type EntityBody, mount } from "../../support/support.ts";
import { until } from "../../support/until.ts";

const options = { many: 1000, atomic: false, formats: ["ndjson"] } as const;

class Row extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  rank?: number;
}

@rest({ route: "/rows", methods: [all(), create(options)] })
class Rows extends Row {}

@rest({ route: "/shelves", methods: [one(), create()] })
class Shelf extends FrameworkModel {
  @rest({ methods: [all(), create({ ...options, many: 2 })] })
  @arrayProp({ items: Row, embedded: true, apart: false })
  parts?: Row[];
  @rest({ methods: [all(), create({ ...options, many: 2 })] })
  @arrayProp({ items: () => Rows })
  rows?: Ref<Rows>[];
}

const HEADERS = { "content-type": "application/x-ndjson" };

/** Sends lines while it reads what is told of them. */
async function sendLines(url: string, lines: Iterable<string>): Promise<string[]> {
  const body = ReadableStream.from(lines).pipeThrough(new TextEncoderStream());
  const answer = await fetch(url, { method: "POST", headers: HEADERS, body });
  assertEquals(answer.status, 207);
  return (await answer.text()).split("\n").slice(0, -1);
}

const BAD = ["nonsense\n", "{}\n", '{"name":"a","rank":"x"}\n', "[]\n"];

/** Lines of which every thousandth is a bad one. */
function* linesWithBad(count: number): Generator<string> {
  for (let index = 1; index <= count; index++) {
    const bad = index % 1000 === 0 ? BAD[index / 1000 % BAD.length] : undefined;
    yield bad ?? `{"name":"name ${index}","rank":${index}}\n`;
  }
}

longTest("an import of 100,000 lines tells the fate of each, and holds few of them", async () => {
  await using app = await mount([Rows]);
  const count = 100_000;
  let fates: string[] = [];
  const held = await memoryOf(async () =>
    fates = await sendLines(`${app.url}/rows`, linesWithBad(count))
  );
  assertEquals(fates.length, count);
  for (const [index, fate] of fates.entries()) {
    const { line, status } = JSON.parse(fate);
    assertEquals([line, status], [index + 1, (index + 1) % 1000 === 0 ? 400 : 201]);
  }
  assertEquals(await getModel(Rows).countDocuments({}), count - 100);
  assert(held < 150e6, `${Math.round(held / 1e6)} MB`);
});

test("an import goes no further than its client reads, and ends when it leaves", async () => {
  await using app = await mount([Rows]);
  const { collection } = getModel(Rows);
  const request = openRequest(`${app.url}/rows`, { method: "POST", headers: HEADERS });
  request.on("error", () => {});
  let sent = 0;
  const fill = () => {
    while (sent < 1_000_000 && request.write(`{"name":"n","rank":${sent++}}\n`));
  };
  request.on("drain", fill);
  fill();
  const [answer] = await once(request, "response");
  assertEquals(answer.statusCode, 207);
  answer.pause();
  let stored = -1;
  // Nothing is read: what fits into the buffers on the way is all
  await until(async () => {
    const before = stored;
    await new Promise((resolve) => setTimeout(resolve, 700));
    stored = await collection.countDocuments({});
    return stored === before;
  });
  assert(stored < 500_000, `${stored} of ${sent}`);
  request.destroy();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const after = await collection.countDocuments({});
  assert(after - stored <= 4000, `${after - stored} after it has left`);
});

test("an import whose client does not read is cut after sendTimeoutMS, and ends", async () => {
  const errors: unknown[] = [];
  await using app = await mount([Rows], {
    limits: { sendMS: 1500 },
    onError: (_req, error) => void errors.push(error),
  });
  const { collection } = getModel(Rows);
  const request = openRequest(`${app.url}/rows`, { method: "POST", headers: HEADERS });
  request.on("error", () => {});
  let sent = 0;
  const fill = () => {
    while (sent < 1_000_000 && request.write(`{"name":"n","rank":${sent++}}\n`));
  };
  request.on("drain", fill);
  fill();
  const [answer] = await once(request, "response");
  answer.on("error", () => {});
  answer.pause();
  await until(() => errors.length > 0);
  const stored = await collection.countDocuments({});
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert(await collection.countDocuments({}) - stored <= 2000);
  assert(stored < 500_000, `${stored} of ${sent}`);
  answer.resume();
  await until(() => answer.closed);
  assertEquals([answer.complete, errors.length], [false, 1]);
});

test("lines create what a parent embeds, and what it refers to", async () => {
  await using app = await mount([Shelf, Rows]);
  const shelf = await app.created("/shelves", {});
  const lines = ['{"name":"a"}\n', "{}\n", '{"name":"b"}\n', '{"name":"c"}'];
  for (const path of ["parts", "rows"]) {
    const url = `${app.url}/shelves/${shelf._id}/${path}`;
    const fates = (await sendLines(url, lines)).map((fate) => JSON.parse(fate));
    assertEquals(fates.map(({ status }) => status), [201, 400, 201, 201]);
    const names = (await app.read<EntityBody[]>(`/shelves/${shelf._id}/${path}`)).map(({ name }) =>
      name
    );
    assertEquals(names.sort(), ["a", "b", "c"]);
  }
  const none = await app.send("POST", `/shelves/${"a".repeat(24)}/parts`, {
    raw: "{}",
    headers: HEADERS,
  });
  assertEquals(none.status, 404);
});

test("an import ends with the batch that the database cannot write", async () => {
  await using mongo = await openReplicaSet();
  await using app = await mount([Rows], { mongo: mongo.uri, onError: () => {} });
  await getModel(Rows).init();
  const fail = { mode: { skip: 1 }, closeConnection: true };
  await failCommand(getModel(Rows).db, ["insert"], fail);
  const fates = await sendLines(`${app.url}/rows`, linesWithBad(5500));
  await failCommand(getModel(Rows).db, ["insert"], { mode: "off" });
  const told = fates.map((fate) => JSON.parse(fate));
  assertEquals(told.map(({ line }) => line), Array.from({ length: 1001 }, (_, index) => index + 1));
  assertEquals(told.map(({ status }) => status), [...Array(999).fill(201), 400, 503]);
});
