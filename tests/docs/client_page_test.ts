import { assertEquals } from "@std/assert";
import { connect, type FetchFunction } from "@mongrove/mongrove/client";
import type { Book } from "../features/files/shelf.ts";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { serve } from "../harness/serve.ts";
import { longTest, test } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { importApp } from "./recipes/open_recipe.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { readSteps } from "./tutorial/read_steps.ts";

const PAGES = ["docs/client.md", "docs/live.md"];
const BASE = "http://127.0.0.1:3000";

async function stepsOf(page: string) {
  return readSteps(await Deno.readTextFile(new URL(`../../${page}`, import.meta.url)));
}

/** What the comments below each `console.log()` say. */
function expected(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\);\n *\/\/ (.*)/g)].map(([, line = ""]) => line);
}

for (const page of PAGES) {
  longTest(`${page} shows what its files print`, async (t) => {
    const steps = await stepsOf(page);
    await using project = await makeProject();
    const files = Object.assign({}, ...steps.map((step) => step.files)) as Record<string, string>;
    await project.write(files);
    const app = await importApp(project);
    const mongo = await sharedReplicaSet();
    await using _database = await openDatabase(mongo);
    await using served = await serve(app);
    for (const [name, code] of Object.entries(files)) {
      await project.write({ [name]: code.replace(BASE, served.url) });
    }
    for (const [name, code] of Object.entries(files).slice(2)) {
      await t.step(name, async () => {
        const args = ["run", "--quiet", "--no-lock", "--allow-net", "--allow-env", name];
        const printed = await runCommand(Deno.execPath(), args, { cwd: project.folder });
        assertEquals(printed.split("\n").filter(Boolean), expected(code));
      });
    }
  });
}

/** What browsers send to other origins without asking. */
const SAFE = new Set(["accept"]);

test("docs/lists.md allows the headers that the client sends from another origin", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/lists.md", import.meta.url));
  const [, allowed = ""] = /allowedHeaders:\s*"(.*)"/.exec(page) ?? [];
  const sent = new Set<string>();
  const fetch: FetchFunction = (url, { headers, method }) => {
    for (const name of new Headers(headers).keys()) sent.add(name);
    const book = { _id: "a", name: "b", __v: 0 };
    const isList = url.includes("?") && method === "GET";
    return Promise.resolve(Response.json(isList ? [book] : book, { headers: { etag: '"0.a"' } }));
  };
  const url = "http://127.0.0.1:1";
  const keyed = connect(url, { fetch, apiKey: "mgv_a" });
  await keyed.resource<Book>("/books").all({ count: true, limit: 1 });
  const api = connect(url, { fetch, headers: { authorization: "Bearer a" } });
  const books = api.resource<Book>("/books", { idempotency: true });
  const known = await books.one("a");
  await books.one("a", { known });
  await books.create({ name: "b" });
  await books.update("a", { name: "b" }, { ifMatch: known, minimal: true });
  await books.file("cover", "a").put(new File(["a"], "a.txt"), { createOnly: true });
  const names = new Set(allowed.toLowerCase().split(","));
  assertEquals([...sent].filter((name) => !names.has(name) && !SAFE.has(name)), []);
  assertEquals(sent.has("content-disposition") && sent.has("x-api-key"), true);
});
