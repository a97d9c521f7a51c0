/**
 * The load generator: a process of its own, told what to do by lines of JSON. It runs on Node, for
 * Deno lets a program read `/proc` only if it may do everything.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import type { Command, Fired, Probed } from "./commands.ts";
import { Battery } from "./fire.ts";
import { readPeakMb, readThreadTimes, timeBetween } from "./process_usage.ts";

let battery: Battery | undefined;

async function obey(command: Command): Promise<Fired | Probed | object> {
  switch (command.type) {
    case "open":
      // One that failed may have left its connections open
      battery?.close();
      battery = await Battery.open(command);
      return {};
    case "fire":
      if (battery === undefined) throw new Error("Cannot fire: no connection is open");
      return await battery.fire(command);
    case "close":
      battery?.close();
      battery = undefined;
      return {};
    case "probe":
      return {
        cpuMs: timeBetween(new Map(), readThreadTimes(command.pid)),
        peakMb: readPeakMb(command.pid),
      };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await obey(JSON.parse(line)).catch((error) => {
    battery?.close();
    battery = undefined;
    return { error: error instanceof Error ? error.message : String(error) };
  });
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit();
