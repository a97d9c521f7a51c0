import { assertEquals } from "@std/assert";
import type { ActiveFeature, AnyFeature } from "./feature.ts";
import type { TextAnswer } from "./request/answer.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import { runWrapped } from "./run_wrapped.ts";

const MADE: TextAnswer = { kind: "text", status: 201 };

Deno.test("the first feature wraps the others, and features without the phase do nothing", async () => {
  const calls: unknown[] = [];
  const wrapping: Pick<AnyFeature, "wrap"> = {
    async wrap(params, operation) {
      calls.push(`${params} begins`);
      const { text } = await operation.run(operation.context) as TextAnswer;
      calls.push(`${params} ends`);
      return { ...MADE, text: `${text} ${params}` };
    },
  };
  const active = [["first", wrapping], ["without", {}], ["second", wrapping]] as const;
  const context = {
    active: active.map(([params, feature]) => ({ feature, params }) as ActiveFeature),
  } as unknown as OpenLevelContext;
  const answer = await runWrapped(context, () => {
    calls.push("operation");
    return Promise.resolve({ ...MADE, text: "made" });
  });
  assertEquals(answer, { ...MADE, text: "made second first" });
  assertEquals(calls, [
    "first begins",
    "second begins",
    "operation",
    "second ends",
    "first ends",
  ]);
});
