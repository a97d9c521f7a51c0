import type { JsonObject } from "../schema/fields/json.ts";
import { badFormat } from "../errors/refusals.ts";
import { MEDIA_TYPES } from "../filter/parameters/read_rules.ts";
import { readBody, readElements } from "../write/body/read_body.ts";
import { runAction } from "./action.ts";
import { changeAll } from "./change_all.ts";
import { importLines } from "./import_lines.ts";
import { remove } from "./remove.ts";
import { openLevel } from "./open_level.ts";
import { readList } from "./lists/read_list.ts";
import { readOne } from "./read.ts";
import { openPopulation } from "./references.ts";
import { createOnce, keyOf } from "./create_once.ts";
import type { Call, OpenLevelContext } from "./request/request_context.ts";
import { checkIndexes, checkParameters } from "./request/check_request.ts";
import { isMinimal, withoutBody } from "./request/preferences.ts";
import type { Reply } from "./request/reply.ts";
import { narrowToReader } from "./request/reader_rights.ts";
import { refuseTags } from "./request/versions.ts";
import { replace } from "./replace.ts";
import { performWrite } from "./perform_write.ts";
import { passPreFetch } from "./pass_hooks.ts";
import { write } from "./write.ts";
import { writeMany } from "./write_many.ts";

/**
 * Runs all steps of a request after its parameters are parsed, from the first hook to the reply. Errors are thrown, and
 * the caller answers them.
 */
export async function runPipeline(call: Call): Promise<Reply> {
  const { route: { operation, bodyLimits }, req } = call;
  await admit(call);
  const key = keyOf(call);
  const takesBody = operation.change === "merge" || operation.change === "replace";
  const { many, takesLines } = call.context.level.writes ?? {};
  const isImport = takesLines === true && Boolean(req.is(MEDIA_TYPES.ndjson));
  if (isImport && key !== undefined) {
    throw badFormat(`The header "Idempotency-Key" is not for lines`);
  }
  const elements = many === undefined || isImport
    ? undefined
    : readElements(req, { ...bodyLimits, many });
  const isOne = takesBody && elements === undefined && !isImport;
  const body = isOne ? readBody(req, bodyLimits) : undefined;
  const opened = await openLevel(call.context);
  await checkIndexes(call);
  refuseTags(opened);
  if (isImport) return importLines(opened);
  const { action } = opened.level;
  if (action !== undefined) return await runAction(opened, action);
  const context = opened.params.populate === undefined
    ? opened
    : Object.assign(opened, { finder: await openPopulation(opened) });
  if (operation.many) {
    return operation.change === undefined
      ? await readList(context)
      : await changeAll(context, body);
  }
  const create = () =>
    elements === undefined ? performOn(context, body) : writeMany(context, elements);
  const count = elements?.length;
  const reply = key === undefined
    ? await create()
    : await createOnce(context, { key, bodyHash: call.bodyHash, count, create });
  return isMinimal(context) && reply.status !== 207 ? withoutBody(reply) : reply;
}

/**
 * Runs the `preFetch` hooks, applies the rights of the reader, and throws an error if a parameter is wrong. The hooks
 * run first, so a client that they refuse gets no error about its parameters.
 */
export async function admit(call: Call): Promise<void> {
  await passPreFetch(call);
  narrowToReader(call.context);
  if (call.badQuery !== undefined) throw call.badQuery;
  checkParameters(call);
}

async function performOn(context: OpenLevelContext, body: JsonObject | undefined): Promise<Reply> {
  const { operation } = context.route;
  if (operation.change === undefined) return await readOne(context);
  if (operation.change === "replace" && body !== undefined) return await replace(context, body);
  const result = await performWrite(context, { body });
  if (result !== undefined) {
    return { status: operation.status, ...result, parentId: context.source.only };
  }
  if (operation.change === "remove") return await remove(context);
  return await write(context, body ?? {});
}
