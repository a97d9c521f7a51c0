import { isOperationName } from "../declare/operations/operation.ts";
import type { FieldHook } from "../declare/hooks/named_fields.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { StoreFailure } from "../errors/failure.ts";
import { notFound } from "../errors/refusals.ts";
import type { PlannedWrite, StatementResult, Unsent, WriteCommand } from "../sources/source.ts";
import { askedHookOf, MAX_ASKED } from "./asked_hook.ts";
import { idParam, type OpenLevelContext } from "./request/request_context.ts";
import { isMinimal } from "./request/preferences.ts";
import { needsDocument } from "./request/versions.ts";
import { passesUnread } from "./strict_bodies.ts";

export type ChangeFacts = Pick<WriteCommand, "body" | "bodies" | "isAtomic" | "limit">;

/**
 * Tries a single statement, which is faster. `undefined` if hooks, rules of the model or the details of a refusal need
 * a document.
 */
export async function performWrite(
  context: OpenLevelContext,
  facts: ChangeFacts,
): Promise<StatementResult | undefined> {
  const { level: { hooks, operation }, route, source, claim, match } = context;
  if (!isOperationName(operation) || needsDocument(context)) return undefined;
  const { body, bodies } = facts;
  if (body !== undefined && !passesUnread(context, body)) return undefined;
  const hook = ASKED.has(operation) ? askedHookOf(hooks) : undefined;
  if (hook !== undefined && source.readNamed === undefined) return undefined;
  const write = await source.write({
    hooks: hook === undefined ? hooks : {},
    isAsked: hook !== undefined,
    operation,
    id: route.operation.item ? idParam(context) : undefined,
    claim,
    minimal: isMinimal(context),
    ...facts,
    ...bodies &&
      { bodies: bodies.map((each) => each && passesUnread(context, each) ? each : undefined) },
  });
  if (write.kind === "documents") return undefined;
  const sent = hook === undefined
    ? await write.send()
    : await sendAsked(context, { hook, send: write.send });
  if (sent === "missed" && match === undefined) throw notFound();
  return typeof sent === "string" ? undefined : sent;
}

/** In these operations, fields that a hook names become conditions of the statement, so the hook needs no document. */
const ASKED: ReadonlySet<string> = new Set(["update", "remove", "replace"]);

interface AskedWrite {
  readonly hook: FieldHook;
  readonly send: Extract<PlannedWrite, { kind: "statement" }>["send"];
}

async function sendAsked(
  context: OpenLevelContext,
  { hook, send }: AskedWrite,
): Promise<StatementResult | Unsent> {
  const { source, req, match, level: { operation } } = context;
  for (let asked = 1;; asked++) {
    const found = await source.readNamed?.(idParam(context), hook.reads);
    if (found === undefined) return "refused";
    if (found === null && operation === "replace") return "refused";
    if (found === null) throw notFound();
    const { read, unchanged } = found;
    if (await runHook("postFetch", () => hook.decide({ req, read })) === undefined) {
      throw notFound();
    }
    const sent = await send(unchanged);
    if (sent !== "missed" || match !== undefined) return sent;
    if (asked === MAX_ASKED) throw new StoreFailure({ kind: "changed" });
  }
}
