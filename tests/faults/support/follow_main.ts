/**
 * A process that follows counters, and prints what its handler has done. Some attempts fail or hang; some changes always
 * fail.
 *
 * @module
 */
import mongoose from "mongoose";
import { startFollow } from "../../../src/changes/follow.ts";
import type { FollowOptions } from "../../../src/changes/mod.ts";
import { Counter } from "./counter.ts";

const [uri = "", mode = ""] = Deno.args;
const FAULTY = mode === "faulty";

/** What a process that follows prints, a line for each. */
export interface Told {
  /** The counter. */
  readonly key: string;
  /** Its number after the change. */
  readonly n: number;
  readonly fate: "handled" | "buried";
}

function tell(told: Told | { readonly lost: string } | { readonly error: string }): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(told)}\n`));
}

mongoose.connect(uri, { serverSelectionTimeoutMS: 60_000 });
const options: FollowOptions<Counter> = {
  name: "faults",
  timeoutMS: 300,
  attempts: 5,
  async handle({ _id, values, attempt }) {
    const { n = -1 } = await values() ?? {};
    const dice = Math.random();
    if (FAULTY && n % 97 === 0) throw new Error("It always fails");
    if (FAULTY && attempt < 3 && dice < 0.02) throw new Error("It fails");
    if (FAULTY && attempt < 3 && dice < 0.025) await new Promise(() => {});
    await new Promise((resolve) => setTimeout(resolve, dice * 4));
    tell({ key: String(_id), n, fate: "handled" });
  },
  onLost: ({ reason }) => tell({ lost: reason }),
  async onError(error, change) {
    const { n = -1 } = await change?.values() ?? {};
    if (change !== undefined) tell({ key: String(change._id), n, fate: "buried" });
    else tell({ error: String(error) });
  },
};
const times = { leaseMS: 3000, pauses: { firstMS: 50, longestMS: 200 } };
const follower = startFollow(Counter, { options, times });
Deno.addSignalListener("SIGTERM", async () => {
  await follower.stop();
  Deno.exit();
});
