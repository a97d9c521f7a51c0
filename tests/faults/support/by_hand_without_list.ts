/**
 * What is measured beside Mongrove: what clients cost that only connect. The list is empty, and read from nowhere.
 *
 * @module
 */
import { serveByHand } from "./serve_by_hand.ts";

await serveByHand((res) => void res.json([]));
