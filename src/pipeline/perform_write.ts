import { isOperationName } from "../declare/operations/operation.ts";
import { notFound } from "../errors/refusals.ts";
import type { Change, WriteResult } from "../sources/source.ts";
import { idParam, type OpenLevelContext } from "./request/request_context.ts";
import { isMinimal } from "./request/preferences.ts";
import { needsDocument } from "./request/versions.ts";
import { passesUnread } from "./strict_bodies.ts";

/**
 * The values of a change that depend on the operation, such as its body. All other values of the change come from the
 * request.
 */
export type ChangeFacts = Pick<Change, "body" | "bodies" | "isAtomic" | "limit">;

/**
 * Writes a change by one statement, if its plan allows one. Returns `undefined` if the caller must write the change
 * through documents. This is the case if the plan needs documents, if the server has refused the data, or if the entity
 * is missing and only a document distinguishes a removed entity from an entity with another version.
 */
export async function performWrite(
  context: OpenLevelContext,
  facts: ChangeFacts,
): Promise<WriteResult | undefined> {
  const { level: { hooks, operation }, route, source, cache: { claim }, match } = context;
  if (!isOperationName(operation) || needsDocument(context)) return undefined;
  const { body, bodies } = facts;
  if (body !== undefined && !passesUnread(context, body)) return undefined;
  const write = await source.write({
    hooks,
    operation,
    id: route.operation.item ? idParam(context) : undefined,
    claim,
    minimal: isMinimal(context),
    ...facts,
    ...bodies &&
      { bodies: bodies.map((each) => each && passesUnread(context, each) ? each : undefined) },
  });
  if (write.kind === "documents") return undefined;
  const sent = await write.send();
  if (sent === "missed" && match === undefined) throw notFound();
  return typeof sent === "string" ? undefined : sent;
}
