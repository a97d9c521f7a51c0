import type { JsonObject } from "../schema/fields/json.ts";
import { badFormat } from "../errors/refusals.ts";
import { readBody, readElements } from "../write/body/read_body.ts";
import { runAction } from "./action.ts";
import { changeAll } from "./change_all.ts";
import { importLines } from "./import_lines.ts";
import { remove } from "./remove.ts";
import { openLevel, preparePieces } from "./open_level.ts";
import { readList } from "./lists/read_list.ts";
import { readOne } from "./read.ts";
import { createOnce, keyOf } from "./create_once.ts";
import { readParameters } from "./request/request_context.ts";
import type { Call, LevelContext, OpenLevelContext } from "./request/request_context.ts";
import { MEDIA_TYPES } from "./request/media_types.ts";
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
  await admit(call);
  const [lead] = call.context.active;
  const takeOver = lead?.feature.takeOver?.(lead.params, call);
  if (takeOver !== undefined) return { status: 200, takeOver };
  const reply = await perform(call);
  return { ...reply, headers: { ...reply.headers, ...headersOf(call.context, reply) } };
}

/** Returns the headers of all active features. Values of `Vary` are joined, because several features may set it. */
function headersOf(context: LevelContext, { found }: Reply): Record<string, string> {
  if (found === undefined) return {};
  const headers: Record<string, string> = {};
  for (const { feature, params } of context.active) {
    const more = feature.headers?.(params, { ...found, context: context as OpenLevelContext }) ??
      {};
    for (const [name, value] of Object.entries(more)) {
      const known = name === "Vary" ? headers[name] : undefined;
      headers[name] = known === undefined ? value : `${known}, ${value}`;
    }
  }
  return headers;
}

async function perform(call: Call): Promise<Reply> {
  const { route: { operation, bodyLimits }, req } = call;
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
  const context = await preparePieces(opened);
  const [lead] = context.active;
  const reply = await lead?.feature.respond?.(lead.params, context);
  if (reply !== undefined) return reply;
  if (operation.many) {
    return operation.change === undefined
      ? await readList(context)
      : await changeAll(context, body);
  }
  const create = () =>
    elements === undefined ? performOn(context, body) : writeMany(context, elements);
  const count = elements?.length;
  const created = key === undefined
    ? await create()
    : await createOnce(context, { key, bodyHash: call.bodyHash, count, create });
  return isMinimal(context) && created.status !== 207 ? withoutBody(created) : created;
}

/**
 * Runs the `preFetch` hooks, applies the rights of the reader, and throws an error if a parameter is wrong. The hooks
 * run first, so a client that they refuse gets no error about its parameters.
 */
export async function admit(call: Call): Promise<void> {
  await passPreFetch(call);
  narrowToReader(call.context);
  if (call.badQuery !== undefined) throw call.badQuery;
  readParameters(call.context, call.captured);
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
