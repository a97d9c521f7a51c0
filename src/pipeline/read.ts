import { andThen } from "../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { notFound } from "../errors/refusals.ts";
import { isEmpty } from "../filter/filters.ts";
import { readProjection } from "../filter/projection.ts";
import { fetchOne } from "./fetch.ts";
import type { ReadEntity } from "./fetch.ts";
import { passHook } from "./run_hooks.ts";
import { textsOf, writeEntity } from "./references/written.ts";
import type { Written } from "./references/written.ts";
import { holderOf, outerVersion, readVersion } from "./request/versions.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import type { OpenLevel } from "./request/call.ts";
import { isOver } from "./request/reply.ts";
import type { Reply } from "./request/reply.ts";

export async function readOne(acting: OpenLevel): Promise<Reply> {
  const outer = outerVersion(acting);
  const early = outer === undefined ? await versionBefore(acting) : outer;
  const fetched = await fetchOne(acting);
  const sent = await passHook(acting, "preSend", { entity: fetched.seen });
  if (sent === undefined) throw notFound();
  const [text = ""] = await textsOf(acting, [
    writeEntity(acting, { entity: sent, read: fetched.read }),
  ]);
  const version = early === undefined ? fetched.version ?? null : early;
  return { status: 200, text, version, holder: holderOf(acting, fetched.stored) };
}

/** Reads the version of an entity that may be read without it: by a hook's projection, or because it is not selected. */
async function versionBefore(acting: OpenLevel): Promise<Version | undefined> {
  const { level: { hooks, shape, versionKey = "" }, state } = acting;
  const { hidden = false, selected = true } = shape.fields.get(versionKey) ?? {};
  const isWhole = selected && !hidden && isEmpty(readProjection(state.projection, shape));
  return isWhole || hooks.fetch !== undefined ? undefined : await readVersion(acting);
}

/** Shows one entity of a list to its hooks, and writes it; gives `undefined` where they leave it out. */
export function showEntity(acting: OpenLevel, read: ReadEntity): MaybePromise<Written | undefined> {
  return andThen(
    passHooks(acting, read.entity),
    (each) => each && writeEntity(acting, { entity: each, read }),
  );
}

/** Shows one entity of a list to its hooks; gives `undefined` where they leave it out. */
export function passHooks(acting: OpenLevel, entity: object): MaybePromise<object | undefined> {
  // A hook may have ended the response: the ones that follow do not run.
  if (isOver(acting.req)) return undefined;
  const seen = passHook(acting, "postFetch", { entity });
  return andThen(seen, (each) => each && passHook(acting, "preSend", { entity: each }));
}
