import type { JsonObject } from "../schema/fields/json.ts";
import { askActor } from "./request/actor.ts";
import { readBody } from "../write/body/read_body.ts";
import { runAction } from "./action.ts";
import { actionLinks } from "./available_actions.ts";
import { changeAll } from "./change_all.ts";
import { performRemoval } from "./remove.ts";
import { openLevel, preparePieces } from "./open_level.ts";
import { readList } from "./lists/read_list.ts";
import { readOne } from "./read.ts";
import { parseFeatures } from "./request/request_context.ts";
import type { Call, LevelContext, OpenLevelContext } from "./request/request_context.ts";
import { checkIndexes, checkParameters } from "./request/check_request.ts";
import { isMinimal, withoutBody } from "./request/preferences.ts";
import type { Answer, ListAnswer } from "./request/answer.ts";
import { contextsTo, narrowToReader } from "./request/reader_rights.ts";
import { refuseTags } from "./request/versions.ts";
import { performReplacement } from "./replace.ts";
import { performWrite } from "./perform_write.ts";
import { passGuard } from "./pass_guard.ts";
import { admitClient, renewAdmission } from "./plugins/admit_client.ts";
import { runAround } from "./plugins/run_around.ts";
import { passPreFetch } from "./pass_hooks.ts";
import { runWrapped } from "./run_wrapped.ts";
import { write } from "./write.ts";

/** Relies on the checks of `admitReader()`, which the caller has run. */
export async function runPipeline(call: Call): Promise<Answer> {
  return await runAround(call, {
    purpose: "answer",
    read: () => readRequest(call),
    run: answerCall,
  });
}

async function answerCall(call: Call): Promise<Answer> {
  const { exclusive } = call.context;
  const takeOver = exclusive?.feature.takeOver?.(exclusive.params, call);
  if (takeOver !== undefined) {
    return { kind: "stream", status: 200, send: takeOver, staysOpen: true };
  }
  const answer = await perform(call);
  const isWrite = call.route.operation.change !== undefined;
  const facts = answer.kind === "text" ? answer : {};
  const after = isWrite ? call.route.features.afterWrite(call, facts) : undefined;
  if (after !== undefined) await after;
  if (answer.kind !== "list") return answer;
  return { ...answer, headers: { ...answer.headers, ...headersOf(call.context, answer) } };
}

function headersOf(context: LevelContext, { found }: ListAnswer): Record<string, string> {
  const list = { ...found, context: context as OpenLevelContext };
  return Object.assign(
    {},
    ...context.active.map(({ feature, params }) => feature.headers?.(params, list)),
  );
}

async function perform(call: Call): Promise<Answer> {
  const { route: { operation, bodyLimits }, req } = call;
  const { exclusive } = call.context;
  // A feature that replaces the operation reads the body by itself.
  const takesBody = (operation.change === "merge" || operation.change === "replace") &&
    exclusive?.feature.respond === undefined && call.context.level.perform === undefined;
  // An action reads its body by itself, after its entity. Here, a malformed body is refused before the database is
  // read.
  const isChecked = takesBody || call.context.level.action?.body !== undefined;
  const body = isChecked ? readBody(req, bodyLimits) : undefined;
  call.context.level.checkRequest?.(call.context);
  const opened = await openLevel(call.context);
  const { followed } = opened.selection;
  // A `fetch` hook may send the filter to the database, which cannot follow references.
  if (followed !== undefined) opened.state.filter = followed;
  await checkIndexes(call);
  refuseTags(opened);
  const { action, perform } = opened.level;
  if (perform !== undefined) return await perform(opened);
  if (action !== undefined) return await runAction(opened, action);
  const context = await preparePieces(opened);
  const answer = await runWrapped(context, (each) => operate(each, body));
  const hasBody = answer.kind !== "text" || answer.status === 207 || !isMinimal(context);
  return hasBody ? answer : withoutBody(answer);
}

async function operate(context: OpenLevelContext, body: JsonObject | undefined): Promise<Answer> {
  const { exclusive } = context;
  const answer = await exclusive?.feature.respond?.(exclusive.params, context);
  if (answer !== undefined) return answer;
  if (!context.route.operation.many) return await performOn(context, body);
  return context.route.operation.change === undefined
    ? await readList(context)
    : await changeAll(context, body);
}

/** Rights may end during a live list or an upload, so both check them again. */
export async function admitAgain(call: Call): Promise<Call> {
  const { req, client, timeBudget, route: { plugins } } = call;
  await renewAdmission({ req, client, plugins, timeBudget });
  const admitted = await admitReader(call);
  const read = () => readRequest(admitted);
  return await runAround(admitted, {
    purpose: "renewal",
    read,
    run: (each) => Promise.resolve(each),
  });
}

/** The `preFetch` hooks run before, so that a refused client learns nothing from errors about parameters. */
function readRequest(call: Call): Call {
  if (call.badQuery !== undefined) throw call.badQuery;
  // In a write, features may parse a whole body, so wrong parameters are refused before.
  const isWrite = call.route.operation.change !== undefined;
  if (isWrite) checkParameters(call);
  const parsed = withContext(call, parseFeatures(call.context, call.captured));
  if (!isWrite) checkParameters(parsed);
  return parsed;
}

function withContext(call: Call, context: LevelContext): Call {
  return context === call.context ? call : { ...call, context, levels: contextsTo(context) };
}

export async function admitReader(call: Call): Promise<Call> {
  const { req, client, timeBudget, route: { plugins } } = call;
  if (plugins.admitting.length > 0) await admitClient({ req, client, plugins, timeBudget });
  await passGuard(call);
  await passPreFetch(call);
  askActor(call);
  call.route.features.admitClasses(call);
  const context = narrowToReader(call.context);
  context.level.checkRights?.(context);
  return withContext(call, context);
}

async function readWithActions(context: OpenLevelContext): Promise<Answer> {
  const { actions } = context.route;
  const answer = await readOne(context);
  if (actions === undefined) return answer;
  return { ...answer, headers: await actionLinks(context, actions) };
}

async function performOn(context: OpenLevelContext, body: JsonObject | undefined): Promise<Answer> {
  const { operation } = context.route;
  if (operation.change === undefined) return await readWithActions(context);
  if (operation.change === "replace" && body !== undefined) {
    return await performReplacement(context, body);
  }
  const result = await performWrite(context, { body });
  if (result !== undefined) {
    const parentId = context.source.only;
    return { kind: "text", status: operation.status, ...result, parentId };
  }
  if (operation.change === "remove") return await performRemoval(context);
  return await write(context, body ?? {});
}
