import { casesOf, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { judgeTwins } from "./twins/judge_twins.ts";

const SEED = Number(Deno.env.get("TWINS_SEED") ?? 20261201);

/** How many requests are judged. `TWINS_REQUESTS=20000` is the long run. */
const REQUESTS = Number(Deno.env.get("TWINS_REQUESTS") ?? casesOf(600, 80));

test("nothing tells whoever does not see the trash what is in it", async () => {
  const { sent, statuses } = await judgeTwins("trash", { seed: SEED, requests: REQUESTS });
  await report(`trash: ${sent} requests to twins, statuses ${JSON.stringify(statuses)}`);
});
