import { assertEquals, assertNotEquals } from "@std/assert";
import { until } from "../../support/until.ts";
import { test } from "../testing.ts";
import { borrowServer, lendServers, PORTS } from "./lend_servers.ts";

function lend() {
  const stopped: string[] = [];
  let started = 0;
  const lender = lendServers("standalone", () => {
    const uri = `mongodb://${started++}`;
    return Promise.resolve({ uri, stop: () => Promise.resolve(void stopped.push(uri)) });
  });
  return {
    lender,
    stopped,
    borrow: () => borrowServer("standalone", lender.env[PORTS.standalone]),
  };
}

test("a server is lent to one isolate at a time, and lent again", async () => {
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
