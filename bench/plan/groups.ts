import { itemsOf, TARGETS } from "./collections.ts";
import { read, type Scenario } from "./scenarios.ts";

/** The server that sends the same pipeline by the driver. */
const DRIVER = "express_driver";

/** The servers that take part unless others are named. */
export const GROUP_SERVERS: readonly string[] = ["mongrove", DRIVER];

/** The sizes of the collections that are grouped. */
export const GROUPED_SIZES = [TARGETS, 100_000] as const;

/** The most requests of a round where the database takes long for each. */
const MOST = 60;

/** Names the route of the groups of a collection. */
export function grouped(collection: string): string {
  return `grouped-${collection}`;
}

/** Groups beside the pipeline by hand. */
export const GROUP_SCENARIOS: readonly Scenario[] = GROUPED_SIZES.flatMap((size) => {
  const path = `/${grouped(itemsOf(size))}?group=stars&sum=price`;
  const q = encodeURIComponent(JSON.stringify({ published: true }));
  const byMonth = path.replace("stars", "stars,created");
  const among = `of ${size.toLocaleString("en-US")}`;
  return [
    group(`groups-${size}`, `groups ${among}`, path),
    group(`groups-q-${size}`, `groups ${among}, by a month too, with q`, `${byMonth}&q=${q}`),
  ].map((scenario) => size === TARGETS ? scenario : { ...scenario, most: MOST });
});

function group(name: string, title: string, path: string): Scenario {
  return { name, title, connections: 4, feature: "groups", byHand: DRIVER, traffic: read(path) };
}
