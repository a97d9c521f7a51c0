import { SIZES } from "./collections.ts";
import { READ_ONE, readList, type Scenario } from "./scenarios.ts";

/** Lists of every size. */
export const BY_DOCUMENTS: readonly Scenario[] = SIZES.map((size) => ({
  name: String(size),
  title: `list of ${size}`,
  connections: 2,
  traffic: readList(size),
}));

/** One entity over more and more connections. */
export const BY_CONNECTIONS: readonly Scenario[] = [1, 4, 16, 64, 256].map((connections) => ({
  name: String(connections),
  title: `one, ${connections} connections`,
  connections,
  traffic: READ_ONE,
}));

/** One entity, while Mongrove has this many models. */
export const BY_MODELS: readonly number[] = [1, 10, 50, 100, 200];

/** What can be measured alone. */
export const GROWTH_PARTS: readonly string[] = ["documents", "connections", "depth", "models"];

/** The servers whose growth is measured unless others are named. */
export const GROWING: readonly string[] = ["mongrove", "express_hydrated"];
