import { assertEquals } from "@std/assert";
import { checkLast } from "./check_last.ts";
import type { RequestWrite } from "./request_write.ts";

function writeFrom(origin?: RequestWrite): RequestWrite {
  return { request: { origin } } as unknown as RequestWrite;
}

Deno.test("checkLast() checks a write that follows from another one after all writes, or by itself", async () => {
  const calls: string[] = [];
  const call = (name: string) => () => Promise.resolve(void calls.push(name));
  const origin = writeFrom();
  const inner = () =>
    checkLast(writeFrom(origin), { send: call("send inner"), check: call("check inner") });
  await inner();
  await checkLast(origin, {
    send: () => inner().then(call("send last")),
    check: call("check origin"),
  });
  assertEquals(calls, [
    ...["send inner", "check inner"],
    ...["send inner", "send last", "check origin", "check inner"],
  ]);
});
