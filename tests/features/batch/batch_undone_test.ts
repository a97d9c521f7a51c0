import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import type { Mounted } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { rows } from "./shop.ts";
import { holdHooks, Kept, Owned, Plain, writesOf } from "./writes.ts";

async function stored(): Promise<string> {
  const { db } = mongoose.connection;
  const all = await Promise.all(
    (await db?.collections() ?? []).map(async (each) =>
      [each.collectionName, await each.find().sort({ _id: 1 }).toArray()] as const
    ),
  );
  return JSON.stringify(all.sort(([a], [b]) => a < b ? -1 : 1));
}

async function openTransactions(): Promise<number> {
  const status = await mongoose.connection.db?.command({ serverStatus: 1 });
  return Number(status?.transactions.currentOpen);
}

/** Sends a batch whose client leaves while a hook of its last request waits. */
async function leaveDuring(app: Mounted, requests: unknown): Promise<void> {
  const { open, waiting } = holdHooks();
  const leaving = new AbortController();
  const sent = fetch(`${app.url}/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ requests }),
    signal: leaving.signal,
  }).then((answer) => answer.text()).catch(() => undefined);
  assertEquals(await Promise.race([waiting, sent]), undefined);
  leaving.abort();
  await sent;
  await until(async () => await openTransactions() === 0);
  open();
}

for (const route of ["/plain", "/kept"] as const) {
  test(`no write of ${route} is stored after its batch was undone`, async () => {
    let hasEnded = false;
    await using app = await mountOnReplicaSet([Plain, Kept, Owned], {
      batch: { path: "/batch", max: 20 },
      onError: () => void (hasEnded = true),
    });
    const writes = await writesOf(app, route);
    const before = await stored();
    for (const write of writes) {
      hasEnded = false;
      await leaveDuring(app, rows(["POST", "/owned", {}], write));
      await until(async () => hasEnded || await stored() !== before);
      assertEquals(await stored(), before, String(write));
    }
  });
}
