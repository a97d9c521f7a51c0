/**
 * What is measured beside Mongrove: an application that somebody has written with care. It sends its list from a cursor,
 * in small batches, at the pace of the client.
 *
 * @module
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Collection } from "mongoose";
import { serveByHand } from "./serve_by_hand.ts";

async function* listTexts(visits: Collection): AsyncGenerator<string> {
  let before = "[";
  for await (const visit of visits.find().batchSize(1000)) {
    yield before + JSON.stringify(visit);
    before = ",";
  }
  yield "]";
}

await serveByHand(async (res, visits) => {
  res.type("json");
  // Clients may leave
  await pipeline(Readable.from(listTexts(visits), { objectMode: false }), res).catch(() => {});
});
