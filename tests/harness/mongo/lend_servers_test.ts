import { assertEquals, assertNotEquals } from "@std/assert";
import { until } from "../../support/until.ts";
import { test } from "../testing.ts";
import { borrowReplicaSet, lendReplicaSets, REPLICA_SETS } from "./lend_replica_sets.ts";

function lend() {
  const stopped: string[] = [];
  let started = 0;
  const lender = lendReplicaSets(() => {
    const uri = `mongodb://${started++}`;
    return Promise.resolve({ uri, stop: () => Promise.resolve(void stopped.push(uri)) });
  });
  return { lender, stopped, borrow: () => borrowReplicaSet(lender.env[REPLICA_SETS]) };
}

test("a replica set is lent to one isolate at a time, and lent again", async () => {
  const { lender, stopped, borrow } = lend();
  const [first, second] = [await borrow(), await borrow()];
  assertNotEquals(first.uri, second.uri);
  await first.stop();
  await until(async () => {
    const third = await borrow();
    await third.stop();
    return third.uri === first.uri;
  });
  await second.stop();
  await lender[Symbol.asyncDispose]();
  assertEquals(stopped.includes(first.uri) && stopped.includes(second.uri), true);
});
