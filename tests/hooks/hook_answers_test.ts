import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import { getModel } from "../../mod.ts";
import type { FrameworkRequest, HooksOf, ModelClass } from "../../mod.ts";
import type { OperationName } from "../../src/declare/operations/operation.ts";
import { requestRaw } from "../harness/request_raw.ts";
import type { RawReply } from "../harness/request_raw.ts";
import { test } from "../harness/testing.ts";
import { callsFor, hooked, type HooksByOperation, type Item } from "../support/hooked.ts";
import { mount, type Mounted } from "../support/support.ts";

type Answer = (req: FrameworkRequest) => unknown;
type HookName = "preFetch" | "fetch" | "postFetch" | "preSave" | "persist" | "preSend";

/** What a hook gives back when it has answered by itself. */
const RESULTS: Record<HookName, (entity: object) => unknown> = {
  preFetch: () => true,
  fetch: () => Array.from({ length: 200 }, () => ({ name: "x".repeat(1000) })),
  postFetch: (entity) => entity,
  preSave: (entity) => entity,
  persist: (entity) => entity,
  preSend: (entity) => entity,
};

const NAMES = Object.keys(RESULTS) as HookName[];

/** A hook that answers, and lets the pipeline go on. */
function hook(name: HookName, answer: Answer): HooksOf<Item> {
  const act = async (req: FrameworkRequest, entity: object) => {
    await answer(req);
    return RESULTS[name](entity);
  };
  return { [name]: act } as HooksOf<Item>;
}

function redirect({ res }: FrameworkRequest): void {
  if (!res?.headersSent) res?.redirect("/elsewhere");
}

function end({ res }: FrameworkRequest): void {
  res?.status(202).end();
}

function begin({ res }: FrameworkRequest): void {
  if (!res?.headersSent) res?.writeHead(200, { "content-length": "100" }).write("begun");
}

/** Stores an entity; gives its identifier. */
async function seed(target: ModelClass): Promise<string> {
  const [first] = await getModel(target as ModelClass<Item>).create([{ name: "a" }, { name: "b" }]);
  return String(first?._id);
}

/** Which hooks an operation runs. */
function runs(operation: OperationName, name: HookName): boolean {
  if (name === "preSave" || name === "persist") return !["all", "one"].includes(operation);
  if (name === "preSend") return !["remove", "removeAll"].includes(operation);
  return operation !== "create" || name === "preFetch";
}

function send(app: Mounted, [method, path]: [string, string]): Promise<RawReply> {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "Host: a",
    "Connection: close",
    "Content-Type: application/json",
  ];
  const body = ["POST", "PATCH"].includes(method) ? '{"name":"c"}' : "";
  return requestRaw(
    app.url,
    [...lines, `Content-Length: ${body.length}`, "", body].join("\r\n"),
  );
}

/** Sends every operation that runs a hook, HEAD included, to a model of its own. */
async function sendAll(
  [name, answer]: [HookName, Answer],
  check: (reply: RawReply, label: string) => void,
): Promise<void> {
  const operations = callsFor("").map(([each]) => each).filter((each) => runs(each, name));
  const Model = hooked(
    Object.fromEntries(operations.map((each) => [each, hook(name, answer)])) as HooksByOperation,
  );
  await using app = await mount([Model]);
  for (const operation of operations) {
    const id = await seed(Model);
    const [, method, path] = callsFor(id).find(([each]) => each === operation) ?? ["", "", ""];
    for (const verb of method === "GET" ? ["GET", "HEAD"] : [method]) {
      check(await send(app, [verb, path]), `${name} of ${verb} ${operation}`);
    }
  }
  const alive = await requestRaw(
    app.url,
    "GET /no HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  );
  assertEquals(alive.status, 404);
}

for (const name of NAMES) {
  test(`${name} that redirects or ends is the answer of every operation`, async () => {
    using _error = stub(console, "error");
    await sendAll([name, redirect], (reply, label) => {
      assertEquals([reply.status, reply.headers.location], [302, "/elsewhere"], label);
    });
    await sendAll([name, end], ({ status, body, closed }, label) => {
      assertEquals([status, body, closed], [202, "", true], label);
    });
  });

  test(`${name} that begins an answer and leaves it gets it cut, with a hint`, async () => {
    using warn = stub(console, "warn");
    await sendAll([name, begin], ({ status, body, closed }, label) => {
      assert(closed && (status === 200 || status === 0), label);
      assert(body === "" || body === "begun", label);
    });
    assert(warn.calls.every(({ args }) => /a hook has begun an answer/.test(String(args[0]))));
    assert(warn.calls.length > 0);
  });

  test(`${name} that answers and then throws ends nothing but itself`, async () => {
    using _error = stub(console, "error");
    const fail = (req: FrameworkRequest) => {
      redirect(req);
      throw new Error("after the answer");
    };
    await sendAll([name, fail], ({ status }, label) => assertEquals(status, 302, label));
  });

  test(`${name} that leaves its client, writes a head twice or writes late ends nothing but itself`, async () => {
    using _error = stub(console, "error");
    using _warn = stub(console, "warn");
    const twice = ({ res }: FrameworkRequest) => res?.writeHead(200).writeHead(200);
    const late = ({ res }: FrameworkRequest) => void setTimeout(() => res?.write("late"), 5);
    const destroy = (req: FrameworkRequest) => void req.destroy(new Error("gone"));
    const destroyAnswer = ({ res }: FrameworkRequest) => void res?.destroy(new Error("gone"));
    for (const answer of [twice, late, destroy, destroyAnswer]) {
      await sendAll([name, answer], ({ closed }, label) => assert(closed, label));
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
}

test("all() whose own answer has begun when a hook ends it stops there", async () => {
  async function* fetch(req: FrameworkRequest) {
    yield* Array.from({ length: 200 }, () => ({ name: "x".repeat(1000) }));
    req.res?.end();
    yield { name: "more" };
  }
  await using app = await mount([hooked({ all: { fetch } })]);
  const { status, body } = await send(app, ["GET", "/items"]);
  assertEquals([status, body.includes("more")], [200, false]);
});

test("all() calls no more hooks when one has answered", async () => {
  let calls = 0;
  const postFetch = ({ res }: FrameworkRequest, entity: object) => {
    calls++;
    res?.redirect("/elsewhere");
    return entity;
  };
  const Model = hooked({ all: { postFetch } });
  await using app = await mount([Model]);
  await seed(Model);
  assertEquals([(await send(app, ["GET", "/items"])).status, calls], [302, 1]);
});
