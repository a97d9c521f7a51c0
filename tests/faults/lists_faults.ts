import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { bundleApp } from "./support/bundle_app.ts";
import { openApp } from "./support/open_app.ts";
import { peakOf } from "./support/peak_of.ts";

const BASE = Deno.env.get("MONGODB_URI") ?? "";
const DATABASE = `faults_lists_${crypto.randomUUID().slice(0, 8)}`;

const ENTITIES = 100_000;

/** How many clients ask for the list at once, and the most that the process may have of the memory then. */
const [CLIENTS, MOST] = isLong ? [60, 2.5e9] : [10, 1e9];

/** Reads a list, and keeps nothing of it; gives the status and the size. */
async function readAway(url: string): Promise<readonly [status: number, size: number]> {
  const answer = await fetch(url);
  let size = 0;
  for await (const piece of answer.body ?? []) size += piece.length;
  return [answer.status, size];
}

/** Asks an application for many lists at once. */
async function readMany(how: string, command?: readonly [string, ...string[]]): Promise<void> {
  await using app = await openApp(BASE, { database: DATABASE, ...command && { command } });
  const { pid } = await app.state();
  for (const path of ["/shown/hooks", "/shown/lean"]) {
    const begun = performance.now();
    const read = Array.from({ length: CLIENTS }, () => readAway(`${app.url}${path}`));
    const answers = await Promise.all(read);
    const [[, size] = [0, 0]] = answers;
    assert(size > ENTITIES * 50, `${size} bytes`);
    assertEquals(answers, answers.map(() => [200, size]), path);
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    const peak = await peakOf(pid);
    await report(`${CLIENTS} × ${path} on ${how}: ${seconds} s, peak ${Math.round(peak / 1e6)} MB`);
    assert(peak < MOST, `${path}: ${peak} bytes`);
  }
  assertEquals((await app.state()).pid, pid);
}

test("many long lists with hooks at once are all answered", async (t) => {
  const host = await mongoose.createConnection(BASE, { dbName: DATABASE }).asPromise();
  const rows = Array.from({ length: ENTITIES }, () => ({ key: "k", text: "x".repeat(20) }));
  await host.collection("shown").insertMany(rows);
  try {
    await t.step("on Deno", () => readMany("Deno"));
    if (!isLong) return;
    await t.step("on Node", async () => {
      await using node = await bundleApp();
      await readMany("Node", node.command);
    });
  } finally {
    await host.dropDatabase();
    await host.close();
  }
});
