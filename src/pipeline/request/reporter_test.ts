import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import { answerTo } from "../failures.ts";
import { type ErrorContext, Reporter } from "./reporter.ts";

const CONTEXT: ErrorContext = { method: "GET", route: "/a", class: "A", operation: "all" };

const unavailable = (cause: unknown) => answerTo({ kind: "away", reason: "outage" }, { cause });

/** A reporter of short minutes, and what it has reported. */
function listen() {
  const reported: [name: string, count: number | undefined][] = [];
  const routes: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const reporter = new Reporter((_req, error, { count, route }) => {
    reported.push([(error as Error).name, count]);
    routes.push(route);
    if (count !== undefined) resolve();
  }, 50);
  const fail = (error: unknown, route = "/a") =>
    reporter.reportRepeated({ req: {} as never, error, context: { ...CONTEXT, route } });
  return { reported, routes, fail, summed: promise };
}

Deno.test("reportRepeated() reports a cause at once, and how often it came when its turn ends", async () => {
  using _log = stub(console, "error");
  const { reported, routes, fail, summed } = listen();
  const keepAlive = setTimeout(() => {}, 5000);
  for (let count = 0; count < 5; count++) await fail(unavailable(new RangeError("x")), `/${count}`);
  assertEquals(reported, [["RestError", undefined]]);
  await summed;
  clearTimeout(keepAlive);
  assertEquals(reported, [["RestError", undefined], ["RestError", 4]]);
  assertEquals(routes, ["/0", "/4"]);
});

Deno.test("reportRepeated() tells causes apart by the class and code of the error behind them", async () => {
  using _log = stub(console, "error");
  const { reported, fail } = listen();
  const coded = (code: number) => Object.assign(new Error("x"), { code });
  for (const error of [new RangeError(), coded(1), coded(2), coded(1), unavailable(coded(2))]) {
    await fail(error);
  }
  assertEquals(reported.length, 3);
});

Deno.test("reportForgotten() logs once for each hook of a router", () => {
  using warn = stub(console, "warn");
  for (const reporter of [new Reporter(), new Reporter()]) {
    for (const hook of ["postFetch", "postFetch", "preSend"]) {
      reporter.reportForgotten(hook, { operation: "all", name: "A" });
    }
  }
  assertEquals(warn.calls.length, 4);
});
