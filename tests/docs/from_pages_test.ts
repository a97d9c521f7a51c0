import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createApp } from "../../src/new/mod.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { start } from "../support/support.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

const { ObjectId } = mongoose.Types;

const author = new ObjectId();

/** The stored data of a page, whose model the page shows. */
const PAGES = {
  "docs/from_data_api.md": {
    tasks: [
      { text: "Buy milk", status: "open" },
      { text: "Water the plants", status: "open", due: new Date("2026-05-02T08:00:00Z") },
    ],
  },
  "docs/from_prisma.md": {
    User: [{ _id: author, email: "ann@acme.example" }],
    Post: [
      { slug: "hello", title: "Hello", published: true, tags: ["news"], authorId: author },
      { slug: "draft", title: "Hello again", published: false, tags: [], authorId: author },
    ],
  },
} as const;

/** Stores the data of a page, with the indexes that its model shows. */
async function store(data: Readonly<Record<string, readonly object[]>>): Promise<void> {
  const { connection } = mongoose;
  for (const [name, entities] of Object.entries(data)) {
    await connection.collection(name).insertMany(entities.map((each) => ({ ...each })));
  }
  if ("tasks" in data) await connection.collection("tasks").createIndex({ due: 1 });
  const unique = { unique: true, name: "Post_slug_key" };
  if ("Post" in data) await connection.collection("Post").createIndex({ slug: 1 }, unique);
}

const classOf = (text = "") => text.slice(text.indexOf("export class"));

for (const [page, data] of Object.entries(PAGES)) {
  test(`${page} shows a model of new --from, and what it answers`, async () => {
    const text = await Deno.readTextFile(new URL(`../../${page}`, import.meta.url));
    const steps = readSteps(text);
    const { files = {} } = steps.find(({ title }) => title === "An example") ?? {};
    await using database = await openDatabase(await sharedReplicaSet());
    await store(data);
    const folder = await Deno.makeTempDir({ prefix: "mongrove-from-" });
    await createApp(folder, { from: database.uri });
    for (const [name, shown] of Object.entries(files)) {
      const written = await Deno.readTextFile(join(folder, name));
      // The page adds operations.
      assertEquals(classOf(shown), classOf(written));
      if (page.includes("prisma")) assertEquals(shown, written);
      await Deno.writeTextFile(join(folder, name), shown);
    }
    // deno-lint-ignore mongrove/literal-import -- the file has just been written
    const { buildApp } = await import(pathToFileURL(join(folder, "app.ts")).href) as {
      buildApp(key: string): RequestListener;
    };
    await using served = await start(buildApp("secret"));
    const rehearsal = new Rehearsal();
    const turns = steps.flatMap(({ turns }) => turns);
    assert(turns.length > 2);
    for (const { line, answer } of turns) {
      const given = parseAnswer(await rehearsal.play(served.url, line, answer));
      assertEquals(given, parseAnswer(answer), line);
    }
    await Deno.remove(folder, { recursive: true });
  });
}
