import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { HARMS } from "./support/harms.ts";
import { openApp } from "./support/open_app.ts";
import { openOthers, pause, showTimes } from "./support/others.ts";

const BASE = Deno.env.get("MONGODB_URI") ?? "";
const DATABASE = `faults_by_hand_${crypto.randomUUID().slice(0, 8)}`;

const SPAN_MS = 5000;

/** What clients do to the application, and for how long others are measured then. */
const MEASURED = Object.entries(HARMS).flatMap(([name, harm]) =>
  name.includes("read nothing")
    ? { name, harm, lastMs: 30_000 }
    : name.includes("vanish")
    ? { name, harm, lastMs: SPAN_MS }
    : []
);

async function measure({ harm, lastMs }: typeof MEASURED[number]): Promise<string> {
  await using app = await openApp(BASE, { database: DATABASE, main: "by_hand.ts" });
  const others = openOthers(app);
  const from = performance.now();
  await pause(SPAN_MS);
  const begun = performance.now();
  const clients = await harm(app.url);
  await pause(lastMs);
  const over = performance.now();
  await clients.close();
  const end = await others.end().then(() => "", () => "; it has ended");
  const [before, during] = [others.between(from, begun), others.between(begun, over)];
  return `p50, p99 and worst of others ${showTimes(before)} ms, then ${showTimes(during)} ms${end}`;
}

// It is only told: there is nothing that it has to be
if (isLong) {
  test("an application by hand is harmed by the same clients", async () => {
    assertEquals(MEASURED.length, 2, "these clients have other names now");
    const host = await mongoose.createConnection(BASE, { dbName: DATABASE }).asPromise();
    const rows = Array.from({ length: 100_000 }, () => ({ key: "k", text: "x".repeat(200) }));
    await host.collection("visits").insertMany(rows);
    for (const each of MEASURED) {
      await report(`By hand, ${each.name}: ${await measure(each)}`);
    }
    await host.dropDatabase();
    await host.close();
  });
}
