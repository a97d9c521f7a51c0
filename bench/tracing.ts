/**
 * What the tracing channels cost where nobody has subscribed: nanoseconds for each request, and for each statement. Run by
 * `deno task bench tracing`.
 *
 * @module
 */
import mongoose from "mongoose";
import { traceRequest } from "../src/http/trace_request.ts";
import { traceStatements } from "../src/schema/mongoose/statements/trace_statements.ts";
import { median } from "./figures/quantile.ts";

const CALLS = 10_000_000;

const ROUNDS = 7;

const served = Promise.resolve();

const serve = () => served;

/** What no function looks at without subscribers. */
const REQUEST = {} as Parameters<typeof traceRequest>[0];

const connection = mongoose.createConnection();

const WORK = {
  bare: serve,
  request: () => traceRequest(REQUEST, serve),
  connection: () => traceStatements(connection),
};

/** Gives the nanoseconds of a call. */
function timeOf(work: () => unknown): number {
  const start = performance.now();
  let last: unknown;
  for (let call = 0; call < CALLS; call++) last = work();
  const ms = performance.now() - start;
  // Engines leave out what nobody looks at.
  if (last === WORK) throw new Error("Cannot measure: the work gave itself");
  return ms * 1e6 / CALLS;
}

/** Prints the figures. */
export function benchTracing(): void {
  const times = Object.entries(WORK).map(([name, work]) =>
    [
      name,
      median(Array.from({ length: ROUNDS }, () => timeOf(work))),
    ] as const
  );
  for (const [name, time] of times) console.log(`${name.padEnd(12)} ${time.toFixed(2)} ns`);
}
