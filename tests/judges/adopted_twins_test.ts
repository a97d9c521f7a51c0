import { casesOf, report } from "../harness/report.ts";
import { longTest, test } from "../harness/testing.ts";
import { judgeTwins } from "./twins/judge_twins.ts";
import type { Hiding } from "./twins/twins.ts";

const SEED = Number(Deno.env.get("TWINS_SEED") ?? 20261203);

/** How many requests are judged. `TWINS_REQUESTS=20000` is the long run. */
const REQUESTS = Number(Deno.env.get("TWINS_REQUESTS") ?? casesOf(600, 80));

async function judge(hiding: Hiding, requests: number): Promise<void> {
  const judged = await judgeTwins(hiding, { seed: SEED, requests, isAdopted: true });
  await report(`adopted, ${hiding}: ${judged.sent} requests, ${JSON.stringify(judged.statuses)}`);
}

test("nothing tells clients of adopted models what the trash or another tenant has", async () => {
  await judge("both", REQUESTS);
});

longTest("nothing tells clients of adopted models what the trash has", async () => {
  await judge("trash", Math.ceil(REQUESTS / 2));
});

longTest("nothing tells clients of adopted models what another tenant has", async () => {
  await judge("tenants", Math.ceil(REQUESTS / 2));
});
