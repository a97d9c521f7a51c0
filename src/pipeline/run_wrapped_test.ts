import { assertEquals } from "@std/assert";
import type { ActiveFeature, AnyFeature } from "./feature.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import { runWrapped } from "./run_wrapped.ts";

Deno.test("the first feature wraps the others, and features without the phase do nothing", async () => {
  const calls: unknown[] = [];
  const wrapping: Pick<AnyFeature, "wrap"> = {
    async wrap(params, operation) {
      calls.push(`${params} begins`);
      const reply = await operation.run();
      calls.push(`${params} ends`);
      return { ...reply, text: `${reply.text} ${params}` };
    },
  };
  const active = [["first", wrapping], ["without", {}], ["second", wrapping]] as const;
  const context = {
    active: active.map(([params, feature]) => ({ feature, params }) as ActiveFeature),
  } as unknown as OpenLevelContext;
  const reply = await runWrapped(context, () => {
    calls.push("operation");
    return Promise.resolve({ status: 201, text: "made" });
  });
  assertEquals(reply, { status: 201, text: "made second first" });
  assertEquals(calls, [
    "first begins",
    "second begins",
    "operation",
    "second ends",
    "first ends",
  ]);
});
