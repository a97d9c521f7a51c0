import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isPromise, runHook } from "../../declare/hooks/run_hook.ts";
import { badParameter, notFound } from "../../errors/refusals.ts";
import { everyFilter } from "../../filter/filters.ts";
import { parameterKeys, queryOf } from "../../filter/query_string.ts";
import { notAllowed } from "../../pipeline/given_request.ts";
import type { Call } from "../../pipeline/request/request_context.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { TrashConfig } from "./trash.ts";

export type SeeFunction = (req: FrameworkRequest) => boolean;

export const TRASH = "trash";

export type AskedTrash = "only" | "restore";

/** A property, because hooks get a proxy of the request, which a `WeakMap` would not find. */
const ASKED = Symbol("mongrove trash");

export function askedOf(req: FrameworkRequest): AskedTrash | undefined {
  return Reflect.get(req, ASKED);
}

const NONE = new URLSearchParams();

/** Without the right to see the trash, a restore answers 404, and the parameter `trash` 400. */
export function admitTrash({ see, field }: TrashConfig, { route, req, context }: Call): void {
  const query = queryOf(req.url);
  const given = query === "" ? NONE : new URLSearchParams(query);
  const names = parameterKeys(given, TRASH);
  const { operation, perform, parameters } = actingLevel(route);
  const isRestore = operation === "restore" && perform !== undefined;
  if (!isRestore && names.length === 0) return;
  const isVisible = see !== undefined && (isRestore || parameters.includes(TRASH)) &&
    sees(see, req);
  if (isRestore && !isVisible) throw notFound();
  if (names.length === 0) {
    const { state } = context;
    state.filter = everyFilter(state.filter, { [field]: { $ne: null } });
    return void Reflect.set(req, ASKED, "restore");
  }
  if (!isVisible || isRestore) throw notAllowed(TRASH);
  if (names.length > 1 || given.get(TRASH) !== "only") throw badParameter(TRASH, `"only"`);
  Reflect.set(req, ASKED, "only");
}

/**
 * Descriptions ask `see` too. If it fails, they leave out the trash, because requests without `?trash=` do not need it.
 */
export function maySee({ see }: TrashConfig, req: FrameworkRequest): boolean {
  if (askedOf(req) !== undefined) return true;
  try {
    return see !== undefined && sees(see, req);
  } catch {
    return false;
  }
}

function sees(see: SeeFunction, req: FrameworkRequest): boolean {
  const result = runHook<unknown>("rights", () => see(req));
  if (!isPromise(result)) return result === true;
  Promise.resolve(result).catch(() => {});
  throw new TypeError(`Cannot tell who sees the trash: the function "see" is asynchronous`);
}
