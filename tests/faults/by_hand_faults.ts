import { assert } from "@std/assert";
import mongoose from "mongoose";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { HARMS } from "./support/harms.ts";
import { openApp } from "./support/open_app.ts";
import { openOthers, pause } from "./support/others.ts";
import { prepareHarm } from "./support/prepare_harm.ts";

const BASE = Deno.env.get("MONGODB_URI") ?? "";
const DATABASE = `faults_by_hand_${crypto.randomUUID().slice(0, 8)}`;

const SPAN_MS = 5000;

/** The applications, with the clients that harm them, and for how long others are measured then. */
const APPS = [
  { main: "by_hand.ts", name: "by hand", lastMs: { "read nothing": 30_000, vanish: SPAN_MS } },
  {
    main: "by_hand_without_list.ts",
    name: "by hand, with an empty list that nobody reads from MongoDB",
    lastMs: { "read nothing": SPAN_MS, idle: SPAN_MS, vanish: SPAN_MS },
  },
];

const MEASURED = APPS.flatMap(({ lastMs, ...app }) =>
  Object.entries(lastMs).map(([word, ms]) => ({ ...app, harm: harmNamed(word), ms }))
);

function harmNamed(word: string) {
  const found = Object.keys(HARMS).find((name) => name.includes(word));
  assert(found, `these clients have another name now: ${word}`);
  return found;
}

async function measure({ main, harm, ms }: typeof MEASURED[number]): Promise<string> {
  await using app = await openApp(BASE, { database: DATABASE, main });
  await using clients = await prepareHarm(harm, app.url);
  const others = openOthers(app);
  const from = performance.now();
  await pause(SPAN_MS);
  const begun = performance.now();
  await clients.act();
  await pause(ms);
  const over = performance.now();
  const end = await others.end().then(() => "", () => "; it has ended");
  return others.tell({ from, begun, over }) + end;
}

// It is only told: there is nothing that it has to be
if (isLong) {
  test("applications by hand are harmed by the same clients", async () => {
    const host = await mongoose.createConnection(BASE, { dbName: DATABASE }).asPromise();
    const rows = Array.from({ length: 100_000 }, () => ({ key: "k", text: "x".repeat(200) }));
    await host.collection("visits").insertMany(rows);
    for (const each of MEASURED) {
      await report(`${each.name}, ${each.harm}: ${await measure(each)}`);
    }
    await host.dropDatabase();
    await host.close();
  });
}
