/** The cost of the tracing channels without subscribers, for each request and for each statement. @module */
import mongoose from "mongoose";
import { traceRequest } from "../src/http/trace_request.ts";
import { traceStatements } from "../src/schema/mongoose/statements/trace_statements.ts";
import { quantile } from "./figures.ts";

const CALLS = 10_000_000;

const served = Promise.resolve();
const serve = () => served;
const connection = mongoose.createConnection();

/** A request that no function reads without subscribers. */
const REQUEST = {} as Parameters<typeof traceRequest>[0];

const WORK = {
  bare: serve,
  request: () => traceRequest(REQUEST, serve),
  connection: () => traceStatements(connection),
};

/** Prints the nanoseconds of a call, as the median of seven rounds. */
export function benchTracing(): void {
  for (const [name, work] of Object.entries(WORK)) {
    const times = Array.from({ length: 7 }, () => {
      const start = performance.now();
      let last: unknown;
      for (let call = 0; call < CALLS; call++) last = work();
      // Engines leave out calls without a use of their results
      if (last === WORK) throw new Error("Cannot measure: the work returned itself");
      return (performance.now() - start) * 1e6 / CALLS;
    });
    console.log(`${name.padEnd(12)} ${quantile(times, 0.5).toFixed(2)} ns`);
  }
}
