import { readBody } from "../write/body/read_body.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { checkIndexes } from "./request/check_indexes.ts";
import { openSource } from "./open_source.ts";
import type { Call } from "./request/call.ts";
import { erase } from "./erase.ts";
import { passPreFetch } from "./guard.ts";
import { readMany, readOne } from "./read.ts";
import type { Reply } from "./request/reply.ts";
import { write } from "./write.ts";

/**
 * Takes a request through its route: the life of every operation, top to bottom.
 *
 * @throws {RestError} If a hook, the client's input or the database says no.
 */
export async function runPipeline(call: Call): Promise<Reply> {
  const { operation } = call.route;
  await passPreFetch(call);
  const body = readInput(call);
  const source = await openSource(call);
  await checkIndexes(call);
  if (operation.change === "erase") return await erase(call, source);
  if (body !== undefined) return await write(call, source, body);
  return operation.many ? await readMany(call, source) : await readOne(call, source);
}

/** Reads what the client sent, as far as no database is needed. */
function readInput(call: Call): JsonObject | undefined {
  if (call.badQuery !== undefined) throw call.badQuery;
  return call.route.operation.change === "merge"
    ? readBody(call.req, call.route.bodyLimits)
    : undefined;
}
