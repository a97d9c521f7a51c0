import { assertEquals, assertMatch } from "@std/assert";
import { getModel } from "@mongrove/mongrove";
import { buildApp } from "../../examples/library/app.ts";
import { Author } from "../../examples/library/author.ts";
import { curls } from "../../examples/library/curls.ts";
import { KEY } from "../../examples/library/keep_locked.ts";
import { seed } from "../../examples/library/seed.ts";
import { Shelf } from "../../examples/library/shelf.ts";
import { openDatabase } from "../harness/database.ts";
import { type Reply, request } from "../harness/request.ts";
import { longTest, test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, start } from "../support/support.ts";

const ROOT = new URL("../../", import.meta.url);

/** What the lines of the example answer, in their order; identifiers are masked. */
const ANSWERS: [status: number, body: RegExp][] = [
  [200, /^\[\{"_id":"0+",.*"title":"Ubik".*\}\]$/],
  [201, /^\{"_id":"0+",.*"title":"Fiasco"\}$/],
  [200, /^\{"_id":"0+",.*"title":"Solaris","year":1961,.*\}$/],
  [201, /^\{"_id":"0+",.*"name":"Steve Cox","__v":0\}$/],
  [200, /^\[\{.*"name":"Stanisław Lem".*\},\{.*"name":"Steve Cox".*\}\]$/],
  [200, /^\{"_id":"0+",.*"room":"Hall","floor":1.*\}$/],
  [403, /^\{"code":"FORBIDDEN","message":"Locked"\}$/],
];

async function openLibrary() {
  const database = await openDatabase();
  await seed();
  const served = await start(buildApp());
  const shelf = await getModel(Shelf).findOne({ locked: false }).orFail();
  const locked = await getModel(Shelf).findOne({ locked: true }).orFail();
  return {
    ...served,
    shelf: String(shelf._id),
    book: String(shelf.books?.[0]?._id),
    locked: String(locked._id),
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Sends what a printed line says. */
async function sendLine(line: string): Promise<Reply> {
  const url = new URL(line.match(/http:\S+/)?.[0] ?? "");
  const q = line.match(/--data-urlencode 'q=(.*)'/)?.[1];
  if (q !== undefined) url.searchParams.set("q", q);
  const raw = line.match(/ -d '(.*)'/)?.[1];
  const method = line.match(/-X (\w+)/)?.[1] ?? (raw === undefined ? "GET" : "POST");
  const [, name = "", value = ""] = line.match(/-H '([^:]+): ([^']+)'/) ?? [];
  if (raw === undefined) return await request(url, { method });
  return await request(url, { method, raw, headers: { [name]: value } });
}

async function checkLines(lines: string[]): Promise<void> {
  assertEquals(lines.length, ANSWERS.length);
  for (const [index, line] of lines.entries()) {
    const [status, body] = ANSWERS[index] ?? [0, /^$/];
    const reply = await sendLine(line);
    assertEquals(reply.status, status, line);
    assertMatch(reply.text.replaceAll(/[0-9a-f]{24}/g, "0"), body);
  }
}

/** Reads until the last line of the example has come. */
async function readOutput(child: Deno.ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (/403\ncurl .*\n/.test(text)) break;
  }
  return text;
}

test("examples/library answers the requests that it prints", async () => {
  await using app = await openLibrary();
  await checkLines(curls(app).map(({ line }) => line));
});

test("examples/library takes no authors from a body: they change through their sub-routes only", async () => {
  await using app = await openLibrary();
  const [author] = await getModel(Author).create([{ name: "Ursula K. Le Guin" }]);
  const books = `/shelves/${app.shelf}/books`;
  const body = { title: "Eden", authors: [String(author?._id)] };
  for (
    const [method, path, given] of [
      ["POST", books, body],
      ["PATCH", `${books}/${app.book}`, body],
      ["POST", "/shelves", { name: "New", books: [body] }],
    ] as const
  ) {
    const { status, body: refused } = await app.send<ErrorBody>(method, path, { body: given });
    assertEquals([status, Object.values(refused.errors ?? {})[0]?.kind], [400, "readonly"]);
  }
  const there = `${books}/${app.book}/authors/${author?._id}`;
  assertEquals((await app.delete(there)).status, 404);
  assertEquals(await getModel(Author).countDocuments({ name: "Ursula K. Le Guin" }), 1);
});

longTest("examples/library runs as a program of its own, and stops on SIGTERM", async () => {
  await using database = await openDatabase();
  const env = { MONGODB_URI: database.uri, DEMO_DATABASE: database.name, PORT: "0" };
  const args = ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys"];
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args, "examples/library/main.ts"],
    env,
    cwd: ROOT,
    stdout: "piped",
  }).spawn();
  try {
    const output = await readOutput(child);
    await checkLines(output.split("\n").filter((line) => line.startsWith("curl ")));
  } finally {
    child.kill("SIGTERM");
    assertEquals((await child.status).code, 0);
  }
});

longTest("examples/library seeds once", async () => {
  await using _app = await openLibrary();
  await seed();
  const counts = [await getModel(Shelf).countDocuments(), await getModel(Author).countDocuments()];
  assertEquals(counts, [2, 2]);
});

test("examples/library opens a locked shelf, and what is on it, with the key", async () => {
  await using app = await openLibrary();
  const at = `/shelves/${app.locked}`;
  const headers = { "x-key": KEY };
  for (const [verb, path] of [["get", ""], ["get", "/books"], ["delete", "/books?q={}"]] as const) {
    assertEquals((await app[verb](at + path)).status, 403);
    assertEquals((await app[verb](at + path, { headers })).status, verb === "get" ? 200 : 204);
  }
  assertEquals((await getModel(Shelf).findById(app.locked))?.books?.length, 0);
  const seen = async (headers: Record<string, string>) =>
    (await app.get<EntityBody[]>("/shelves", { headers })).body.length;
  assertEquals([await seen({}), await seen({ "x-key": KEY })], [1, 2]);
});

test("examples/library keeps the signatures of books to itself", async () => {
  await using app = await openLibrary();
  const books = await app.get<EntityBody[]>(`/shelves/${app.shelf}/books`);
  const shelf = await app.get(`/shelves/${app.shelf}`);
  assertEquals([books.body.length, books.text.includes("SF 1"), shelf.text.includes("SF 1")], [
    2,
    false,
    false,
  ]);
});
