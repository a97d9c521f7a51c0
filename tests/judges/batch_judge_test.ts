import { casesOf, report } from "../harness/report.ts";
import { longTest, test } from "../harness/testing.ts";
import { judgeBatches } from "./twins/judge_batches.ts";

const SEED = Number(Deno.env.get("TWINS_SEED") ?? 20261204);

/** How many batches are judged. `TWINS_BATCHES=5000` is the long run. */
const BATCHES = Number(Deno.env.get("TWINS_BATCHES") ?? casesOf(80, 20));

for (const hiding of ["tenants", "both"] as const) {
  const register = hiding === "both" ? longTest : test;
  register(`batches answer and store what single requests do (${hiding})`, async () => {
    const { requests, statuses } = await judgeBatches(hiding, { seed: SEED, batches: BATCHES });
    await report(`batches: ${requests} requests, statuses ${JSON.stringify(statuses)}`);
  });
}
