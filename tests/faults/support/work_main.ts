/**
 * A process that migrates boxes, or counts at intervals, and prints a line for each step.
 *
 * @module
 */
import mongoose from "mongoose";
import { RepeatLoop } from "../../../src/work/_repeat_loop.ts";
import { runMigrations } from "../../../src/work/_run_migrations.ts";
import { Box } from "./box.ts";

const [uri = "", mode = "", lease = ""] = Deno.args;

/** What the process prints, a line for each. */
export type Told =
  | { readonly step: "seen"; readonly id: string }
  | { readonly step: "walked" | "begun" }
  | { readonly step: "ended"; readonly ran: readonly string[] }
  | { readonly step: "failed"; readonly error: string };

function tell(told: Told): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(told)}\n`));
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const name of ["info", "warn"] as const) console[name] = () => {};

mongoose.connect(uri, { serverSelectionTimeoutMS: 60_000 });
const { connection } = mongoose;
const leaseMS = Number(lease);

async function migrate(): Promise<readonly string[]> {
  const closing = new AbortController().signal;
  return await runMigrations([{
    name: "count",
    async run({ each }) {
      await each(Box, {}, async ({ _id, n, isCounted }) => {
        tell({ step: "seen", id: String(_id) });
        await pause(5);
        return isCounted ? undefined : { n: Number(n) + 1, isCounted: true };
      });
      tell({ step: "walked" });
      await pause(500);
    },
  }], { connection, waitMS: 120_000, wait: true, closing, leaseMS });
}

function repeat(): void {
  const run = async () => {
    tell({ step: "begun" });
    await pause(50);
  };
  const onError = (error: unknown) => tell({ step: "failed", error: String(error) });
  const loop = new RepeatLoop({ connection, name: "beat", intervalMS: 200, run, onError, leaseMS });
  Deno.addSignalListener("SIGTERM", () => void loop.stop().then(() => Deno.exit()));
}

if (mode === "repeat") repeat();
else {
  await migrate().then(
    (ran) => tell({ step: "ended", ran }),
    (error) => tell({ step: "failed", error: String(error) }),
  );
  Deno.exit();
}
