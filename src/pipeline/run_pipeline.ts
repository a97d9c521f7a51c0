import { readBody, readElements } from "../write/body/read_body.ts";
import { runAction } from "./action.ts";
import { remove } from "./remove.ts";
import { passPreFetch } from "./run_hooks.ts";
import { openLevel } from "./open_level.ts";
import { readList } from "./lists/read_list.ts";
import { readOne } from "./read.ts";
import { openPopulation } from "./references/population.ts";
import type { Call } from "./request/call.ts";
import { checkIndexes, checkParameters } from "./request/check_request.ts";
import { narrowToReader } from "./request/reader_rights.ts";
import type { Reply } from "./request/reply.ts";
import { refuseTags } from "./request/versions.ts";
import { runDirect } from "./run_direct.ts";
import { write } from "./write.ts";
import { writeMany } from "./write_many.ts";

/**
 * Takes a request through its route: the life of every operation, top to bottom.
 *
 * @throws {RestError} If a hook, the client's input or the database says no.
 */
export async function runPipeline(call: Call): Promise<Reply> {
  const { route: { operation, bodyLimits }, req } = call;
  await passPreFetch(call);
  narrowToReader(call.acting);
  if (call.badQuery !== undefined) throw call.badQuery;
  checkParameters(call);
  const takesBody = operation.change === "merge" || operation.change === "replace";
  const { many } = call.acting.level.writes ?? {};
  const elements = many === undefined ? undefined : readElements(req, { ...bodyLimits, many });
  const body = takesBody && elements === undefined ? readBody(req, bodyLimits) : undefined;
  const opened = await openLevel(call.acting);
  await checkIndexes(call);
  refuseTags(opened);
  const { action } = opened.level;
  if (action !== undefined) return await runAction(opened, action);
  const acting = opened.asked.populate === undefined
    ? opened
    : Object.assign(opened, { finder: await openPopulation(opened) });
  if (operation.many && operation.change === undefined) return await readList(acting);
  if (elements !== undefined) return await writeMany(acting, elements);
  const result = await runDirect(acting, { body });
  if (result !== undefined) {
    return { status: operation.status, ...result, holder: acting.source.only };
  }
  if (operation.change === "remove") return await remove(acting);
  return body === undefined ? await readOne(acting) : await write(acting, body);
}
