import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { type Client, client, type EntityBody } from "../support/client.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { test } from "../harness/testing.ts";
import { readApp } from "../reach/support/readme.ts";
import { startApp } from "../reach/support/start_app.ts";
import { openGet, readSome, readToEnd } from "../support/sockets.ts";
import { until } from "../support/until.ts";
import { countHeld } from "./support/stored.ts";

const BASE = Deno.env.get("MONGODB_URI") ?? "";
const ROOT = new URL("../../", import.meta.url);

/** Starts the first application of the README, with lists of any length, on a database of its own. */
async function openReadmeApp(database: string) {
  const text = (await readApp()).replaceAll("@mongrove/mongrove", `${ROOT}mod.ts`)
    .replace("page: { max: 100 }", "page: false");
  const main = await Deno.makeTempFile({
    dir: new URL(".", import.meta.url).pathname,
    suffix: ".ts",
  });
  await Deno.writeTextFile(main, text);
  const run = ["run", "--quiet", "--no-check", "--allow-env", "--allow-net", "--allow-sys", main];
  const uri = withDatabase(BASE, database);
  const env = { MONGODB_URI: `${uri}${uri.includes("?") ? "&" : "?"}appName=${database}` };
  const app = await startApp([Deno.execPath(), ...run], { cwd: ROOT.pathname, env });
  return {
    ...app,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await Deno.remove(main);
    },
  };
}

/** What clients were told. */
interface Told {
  readonly statuses: Set<number>;
  /** The texts that are stored, as the answers say. */
  readonly kept: Set<string>;
  /** The texts of writes without an answer. */
  readonly unknown: Set<string>;
  answers: number;
}

/** Creates, reads, changes and removes, one request after the other, until nobody answers. */
async function work(api: Client, told: Told): Promise<void> {
  const text = crypto.randomUUID();
  told.unknown.add(text);
  const count = <R extends { readonly status: number }>(reply: R): R => {
    told.statuses.add(reply.status);
    told.answers++;
    return reply;
  };
  const { body } = count(await api.post<EntityBody>("/todos", { text }));
  told.unknown.delete(text);
  told.kept.add(text);
  count(await api.get(`/todos/${body._id}`));
  count(await api.patch(`/todos/${body._id}`, { done: true }));
  if (Math.ceil(told.answers / 4) % 2 === 0) return;
  told.kept.delete(text);
  told.unknown.add(text);
  count(await api.delete(`/todos/${body._id}`));
  told.unknown.delete(text);
}

/** Starts clients; resolves when the application has left all of them. */
async function workAll(api: Client, told: Told): Promise<void> {
  await Promise.all(Array.from({ length: 8 }, async () => {
    try {
      for (;;) await work(api, told);
    } catch {
      // The application is gone
    }
  }));
}

/** Begins a request, and sends a part of it. */
async function begin(url: string, text: string): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await socket.write(new TextEncoder().encode(text));
  return socket;
}

const HEAD =
  "POST /todos HTTP/1.1\r\nHost: a\r\nAuthorization: demo\r\nContent-Type: application/json\r\n";
const BODY = JSON.stringify({ text: "half" });

/** Opens a database with a list that no connection holds at once. */
async function openTodos() {
  const name = `faults_stop_${crypto.randomUUID().slice(0, 8)}`;
  const host = await mongoose.createConnection(BASE, { dbName: name }).asPromise();
  const todos = host.collection<{ text: string; done: boolean }>("todos");
  const long = { text: "x".repeat(190), done: true };
  await todos.insertMany(Array.from({ length: 100_000 }, () => ({ ...long })));
  return {
    ...{ name, todos },
    isFree: async () => await countHeld(host, name) === 0,
    async [Symbol.asyncDispose]() {
      await host.dropDatabase();
      await host.close();
    },
  };
}

test("the README's application stops on SIGTERM with requests of every kind under way", async () => {
  await using database = await openTodos();
  await using app = await openReadmeApp(database.name);
  const told: Told = { statuses: new Set(), kept: new Set(), unknown: new Set(), answers: 0 };
  const working = workAll(client(app, { authorization: "demo" }), told);
  const [list, silent] = [await openGet(`${app.url}/todos`), await openGet(`${app.url}/todos`)];
  const [begun] = await Promise.all([list, silent].map(readSome));
  const long = `${HEAD}Content-Length: ${BODY.length}\r\n\r\n`;
  const half = await begin(app.url, `${long}${BODY.slice(0, 5)}`);
  const others = await Promise.all(
    ["", "GET /to", `${HEAD}Content-Length: 10\r\n\r\n{`].map((text) => begin(app.url, text)),
  );
  await until(() => told.answers > 100, { seconds: 60 });
  app.child.kill("SIGTERM");
  await half.write(new TextEncoder().encode(BODY.slice(5)));
  const answers = await Promise.all([half, list].map(readToEnd));
  await working;
  const { code } = await app.child.status;
  assertEquals([code, answers[0]?.split("\r\n", 1)[0]], [0, "HTTP/1.1 201 Created"]);
  // The last bracket may be a chunk of its own
  assert(/\}(\r\n1\r\n)?\]\r\n0\r\n\r\n$/.test(`${begun}${answers[1]}`), "The list is not whole");
  assertEquals([...told.statuses].sort(), [200, 201, 204]);
  const stored = await database.todos.find({ text: /-|half/ }).toArray();
  const texts = stored.map(({ text }) => text).filter((text) => !told.unknown.has(text)).sort();
  assertEquals(texts, [...told.kept, "half"].sort());
  await until(database.isFree, { seconds: 30 });
  for (const socket of [silent, ...others]) socket.close();
});
