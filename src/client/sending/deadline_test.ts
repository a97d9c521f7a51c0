import { assertEquals } from "@std/assert";
import { openDeadline } from "./deadline.ts";

Deno.test({
  name: "openDeadline() leaves no timer and no listener behind",
  sanitizeOps: true,
  sanitizeResources: true,
  fn() {
    const { signal } = new AbortController();
    const listeners = new Set<unknown>();
    signal.addEventListener = (_type: string, listener: unknown) => void listeners.add(listener);
    signal.removeEventListener = (_type: string, listener: unknown) =>
      void listeners.delete(listener);
    const deadline = openDeadline({ signal, timeoutMS: 60_000 });
    assertEquals([listeners.size, deadline.signal.aborted], [1, false]);
    deadline.end();
    assertEquals(listeners.size, 0);
  },
});

Deno.test("openDeadline() has no time-out if that is infinite", () => {
  const { signal, end } = openDeadline({ timeoutMS: Infinity });
  assertEquals(signal.aborted, false);
  end();
});
