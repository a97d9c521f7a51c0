import { casesOf, report } from "../harness/report.ts";
import { longTest, test } from "../harness/testing.ts";
import { judgeTwins } from "./twins/judge_twins.ts";

const SEED = Number(Deno.env.get("TWINS_SEED") ?? 20261202);

/** How many requests are judged. `TWINS_REQUESTS=20000` is the long run. */
const REQUESTS = Number(Deno.env.get("TWINS_REQUESTS") ?? casesOf(600, 80));

test("nothing tells a tenant what other tenants have", async () => {
  const { sent, statuses } = await judgeTwins("tenants", { seed: SEED, requests: REQUESTS });
  await report(`tenants: ${sent} requests to twins, statuses ${JSON.stringify(statuses)}`);
});

longTest("nothing tells a tenant what the trash of all tenants has", async () => {
  const requests = Math.ceil(REQUESTS / 4);
  const { sent, statuses } = await judgeTwins("both", { seed: SEED, requests });
  await report(`both: ${sent} requests to twins, statuses ${JSON.stringify(statuses)}`);
});
