import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { getModel } from "@mongrove/mongrove";
import { Actor } from "../../examples/movies/actor.ts";
import { buildApp } from "../../examples/movies/app.ts";
import { curls } from "../../examples/movies/curls.ts";
import { SECRET_KEY } from "../../examples/movies/hooks/authenticated.ts";
import { Movie } from "../../examples/movies/movie.ts";
import { MOVIES } from "../../examples/movies/movies.ts";
import { seed } from "../../examples/movies/seed.ts";
import { readCurl, runCurl, sendCurl } from "../harness/curl.ts";
import { openDatabase } from "../harness/database.ts";
import { type Reply, request } from "../harness/request.ts";
import { freePort } from "../harness/free_port.ts";
import { longTest, test } from "../harness/testing.ts";
import { asQuery, start } from "../support/support.ts";

const ROOT = new URL("../../", import.meta.url);
const ID = "0".repeat(24);

/** What the lines of the demo answer, in their order. */
const MOVIE_ANSWERS: [status: number, body: RegExp][] = [
  [200, /^\[\{"_id":"0+","name":"Nomadland"\},(\{"_id":"0+","name":"[^"]+"\},?)+\]$/],
  [
    200,
    /^\{"_id":"0+","name":"The General",.*"actors":\[\{"_id":"0+","name":"Buster Keaton"\}\],"__v":0\}$/,
  ],
  [201, /^\{"_id":"0+",.*"name":"Playground","description":"A test","year":2024,"__v":0\}$/],
  [401, /^\{"code":"UNAUTHENTICATED"\}$/],
  [400, /^\{"code":"BAD_FORMAT",.*"operator":"\$where"\}$/],
];

type Fields = Record<string, string>;

const SMALL_MOVIE = { name: "A", description: "a" };

/** Identifiers differ from run to run. */
function mask(text: string): string {
  return text.trim().replaceAll(/[0-9a-f]{24}/g, ID);
}

async function readText(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, ROOT));
}

async function openMovies() {
  const database = await openDatabase();
  await seed();
  const served = await start(buildApp());
  return {
    ...served,
    id: String((await getModel(Movie).findOne().sort({ year: 1 }).orFail())._id),
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Runs an example as the README says: with the three permissions of the library. */
function runExample(path: string, env: Record<string, string>): Deno.ChildProcess {
  const args = ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys", path];
  return new Deno.Command(Deno.execPath(), { args, env, cwd: ROOT, stdout: "piped" }).spawn();
}

/** Ends an example, and waits until it has ended. */
async function endExample(child: Deno.ChildProcess): Promise<number> {
  child.kill("SIGTERM");
  return (await child.status).code;
}

/** Reads until the last line of the demo has come. */
async function readLines(child: Deno.ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("$where") && text.endsWith("\n")) break;
  }
  return text;
}

/** Waits until something answers. */
async function untilUp(url: string): Promise<void> {
  for (let left = 600; left > 0; left--) {
    const answers = await request(url).then(() => true, () => false);
    if (answers) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Cannot reach ${url}`);
}

/** The commands of the README, each with the output that stands below it: the start, and curl lines. */
async function readmeCommands(): Promise<{ line: string; output: string }[]> {
  const console = (await readText("README.md")).match(/```console\n([^]*?)```/)?.[1] ?? "";
  return console.trim().split("\n\n").map((block) => {
    const [line = "", ...output] = block.split("\n");
    return { line: line.replace(/^\$ /, ""), output: output.join("\n") };
  });
}

test("examples/movies answers the requests that it prints", async () => {
  await using app = await openMovies();
  const lines = curls({ url: app.url, key: SECRET_KEY, id: app.id });
  assertEquals(lines.length, MOVIE_ANSWERS.length);
  for (const [index, { line }] of lines.entries()) {
    const [status, body] = MOVIE_ANSWERS[index] ?? [0, /^$/];
    const reply = await sendCurl(line);
    assertEquals(reply.status, status, line);
    assertMatch(mask(reply.text), body);
  }
  assertEquals(await getModel(Movie).countDocuments(), MOVIES.length + 1);
});

longTest("examples/movies prints lines that a shell runs, and stops on SIGTERM", async () => {
  await using database = await openDatabase();
  const env = { MONGODB_URI: database.uri, DEMO_DATABASE: database.name, PORT: "0" };
  const child = runExample("examples/movies/main.ts", env);
  try {
    const lines = (await readLines(child)).split("\n").filter((line) => line.startsWith("curl "));
    assertEquals(lines.length, MOVIE_ANSWERS.length);
    for (const [index, line] of lines.entries()) {
      const [, body] = MOVIE_ANSWERS[index] ?? [0, /^$/];
      const output = await runCurl(line) ?? (await sendCurl(line)).text;
      assertMatch(mask(output), body);
    }
  } finally {
    assertEquals(await endExample(child), 0);
  }
});

test("examples/movies quotes a key for the shell", () => {
  const key = "it's; a $KEY";
  const [, , create] = curls({ url: "http://127.0.0.1:1", key, id: ID });
  assertEquals(readCurl(create?.line ?? "").headers.authorization, key);
});

test("examples/movies seeds once, and movies and actors refer to each other", async () => {
  await using app = await openMovies();
  await seed();
  assertEquals(await getModel(Movie).countDocuments(), MOVIES.length);
  const { body: movie } = await app.get<{ actors: string[] }>(`/movies/${app.id}`);
  const { body: actor } = await app.get<{ name: string; movies: string[] }>(
    `/actors/${movie.actors[0]}`,
  );
  assertEquals([actor.name, actor.movies], ["Buster Keaton", [app.id]]);
});

test("examples/movies asks for the key on every write, and nowhere else", async (t) => {
  await using app = await openMovies();
  const actor = await getModel(Actor).findOne().orFail();
  const writes = [
    { method: "POST", path: "/movies", body: SMALL_MOVIE, status: 201 },
    { method: "PATCH", path: `/movies/${app.id}`, body: { year: 1900 }, status: 200 },
    { method: "DELETE", path: `/movies/${app.id}`, status: 204 },
    { method: "PATCH", path: `/movies${asQuery({})}`, body: { year: 1900 }, status: 200 },
    { method: "DELETE", path: `/movies${asQuery({})}`, status: 204 },
    { method: "POST", path: "/actors", body: { name: "A" }, status: 201 },
    { method: "PATCH", path: `/actors/${actor._id}`, body: { name: "B" }, status: 200 },
    { method: "DELETE", path: `/actors/${actor._id}`, status: 204 },
  ];
  for (const { method, path, status, ...options } of writes) {
    await t.step(`${method} ${path}`, async () => {
      const send = (headers: Record<string, string>) =>
        app.send(method, path, { ...options, headers });
      for (const headers of [{}, { authorization: "wrong" }]) {
        const refused = await send(headers);
        assertEquals([refused.status, refused.body], [401, { code: "UNAUTHENTICATED" }]);
      }
      assertEquals((await send({ authorization: SECRET_KEY })).status, status);
    });
  }
  for (const path of ["/movies", "/actors"]) {
    assertEquals((await app.get(path)).status, 200);
  }
  assertEquals((await app.delete("/actors")).status, 404);
});

test("examples/movies gives pages of movies in any declared order, and their total", async () => {
  await using app = await openMovies();
  const names: string[] = [];
  let path: string | undefined = "/movies?sort=-year&select=name,year&limit=25";
  while (path !== undefined) {
    const prefer = "count=exact";
    const reply: Reply<Fields[]> = await app.get(path, { headers: { prefer } });
    assertEquals(reply.headers.get("x-total-count"), String(MOVIES.length));
    names.push(...reply.body.map(({ _id, ...shown }) => Object.values(shown).join()));
    path = /<([^>]+)>; rel="next"/.exec(reply.headers.get("link") ?? "")?.[1];
  }
  const expected = MOVIES.toSorted(([, a], [, b]) => b - a);
  assertEquals(names, expected.map(([name, year]) => `${name},${year}`));
  assertEquals((await app.get<unknown[]>("/movies")).body.length, 20);
  assertEquals((await app.get("/movies?sort=description")).status, 400);
});

test("examples/movies gives pages of 20 actors by a hook, with _id and name only", async () => {
  await using app = await openMovies();
  const page = async (text: string) => {
    const reply = await app.get<Record<string, string>[]>(`/actors${text}`);
    assertEquals(reply.status, 200, text);
    for (const entity of reply.body) assertEquals(Object.keys(entity).sort(), ["_id", "name"]);
    return reply.body.map(({ _id = "" }) => _id);
  };
  const actors = await getModel(Actor).countDocuments();
  const all = [];
  for (const number of [0, 1, 2, 3]) all.push(...await page(`?page=${number}`));
  assertEquals([all.length, new Set(all).size], [actors, actors]);
  assertEquals(await page("?page=99"), []);
  for (
    const text of ["", "?page=", "?page=x", "?page=-1", "?page=0.5", "?page=1e99"]
  ) {
    assertEquals(await page(text), all.slice(0, 20));
  }
});

longTest("examples/todo gives the outputs that stand in the README", async () => {
  await using database = await openDatabase();
  const port = freePort();
  const env = { MONGODB_URI: database.uri, PORT: String(port), TODO_KEY: "demo" };
  const child = runExample("examples/todo/main.ts", env);
  try {
    const [begun, ...curls] = await readmeCommands();
    await untilUp(`http://127.0.0.1:${port}/todos`);
    const statuses = [];
    for (const { line, output } of curls) {
      const reply = await sendCurl(line.replace("127.0.0.1:3000", `127.0.0.1:${port}`));
      assertEquals(mask(reply.text), mask(output), line);
      statuses.push(reply.status);
    }
    assertEquals(statuses, [201, 200, 400]);
    child.kill("SIGTERM");
    const { stdout } = await child.output();
    assertEquals(new TextDecoder().decode(stdout).trim(), begun?.output);
  } finally {
    await child.status;
  }
});

test("README shows examples/todo/main.ts as it is, near the top, and is short", async () => {
  const readme = await readText("README.md");
  const todo = await readText("examples/todo/main.ts");
  assertStringIncludes(readme, "```ts ignore\n" + todo + "```\n");
  assert(todo.split("\n").length - 1 <= 36);
  assert(readme.split("\n").length - 1 < 200);
  for (const task of ["demo", "test"]) {
    assertStringIncludes(readme.slice(0, 800), `deno task ${task}`);
    assertStringIncludes(readme.slice(0, 800), `npx -y deno task ${task}`);
  }
});
