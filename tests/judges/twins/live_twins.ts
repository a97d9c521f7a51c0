import { assert, assertEquals } from "@std/assert";
import { openLive } from "../../features/live/live.ts";
import { until } from "../../support/until.ts";
import { Requests } from "./requests.ts";
import type { Random } from "./random.ts";
import { ACME, type Pool } from "./seed.ts";
import type { Twins } from "./twins.ts";

/** Opens the same live list of both twins, sends some writes, and compares the lists. */
export async function compareLive(twins: Twins, pool: Pool, random: Random): Promise<void> {
  const headers = { "x-owner": ACME ?? "", "x-user": "ann" };
  const query = random.one(["sort=name", "sort=-pages&limit=20", "q={}&sort=-_id"]);
  const [one, other] = await Promise.all(
    twins.all.map(({ url }) => openLive(`${url}/items?${query}`, headers)),
  );
  if (one === undefined || other === undefined) return;
  await using _one = one;
  await using _other = other;
  await Promise.all([one.ready(), other.ready()]);
  const making = new Requests(random, pool);
  for (let sent = 0; sent < 10;) {
    const request = making.next();
    if (request.method === "GET" || request.method === "PUT") continue;
    await twins.compare(request);
    sent++;
  }
  // Every one of the lists begins with this entity.
  const body = { name: "!", code: `last ${random.below(1e9)}`, pages: 9 };
  await twins.compare({ method: "POST", path: "/items", body, headers });
  const hasLast = (text: string) => text.includes(body.code);
  await until(() => hasLast(one.text) && hasLast(other.text));
  assertEquals(one.text, other.text);
  for (const id of pool.further) {
    const isTold = (wire: string) => wire.includes(`"_id":"${id}"`);
    assert(!isTold(one.wire) || isTold(other.wire), `the live list names ${id}`);
  }
}
