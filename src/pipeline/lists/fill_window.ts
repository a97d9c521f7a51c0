import { andThen } from "../../declare/hooks/run_hook.ts";
import type { Schema } from "mongoose";
import type { SortValues } from "../../filter/order.ts";
import type { EntitiesRead, FoundPage, PageRead } from "../../sources/source.ts";
import { toJsonValue } from "../../json/to_json.ts";
import { concatenatedTexts, entityValue, passReadHooks } from "../read.ts";
import type { OpenLevelContext } from "../request/request_context.ts";
import { leftOutBy } from "../../declare/hooks/named_fields.ts";
import { topOf } from "../../filter/filters.ts";
import { nameTheirFields } from "../../sources/collection/plan_read.ts";
import { windowOrder } from "../open_level.ts";
import { isOver } from "../request/response.ts";
import { showsStoredValues } from "../../schema/mongoose/documents/hide_in_json.ts";
import { fillPage } from "../../sources/lists/fill_page.ts";

interface ShownEntity {
  readonly value: unknown;
  readonly entity: object;
}

/** Hooks may leave out entities, so more are read until the page is full. */
export async function fillWindow(
  context: OpenLevelContext,
  { read, page }: { readonly read: EntitiesRead; readonly page: PageRead },
): Promise<FoundPage> {
  const { limit, skip, isLoose } = page;
  const ends: (() => SortValues | undefined)[] = [];
  const kept = await fillPage<object, ShownEntity>({
    page,
    // A page by `skip` has no cursor, so the skipped entities are not kept.
    list: (part) =>
      read.list({ ...part, ...(skip === 0 || isLoose) && { note: (end) => ends.push(end) } }),
    show: (each) =>
      andThen(
        passReadHooks(context, each),
        (entity) => entity && { value: entityValue(context, entity), entity },
      ),
    endOf: (index) => ends[index]?.(),
    isOver: () => isOver(context.req),
    hasRest: context.level.hooks.fetch === undefined,
    leavesOut: mayLeaveOut(context),
  });
  const shown = kept.slice(0, limit);
  const last = shown.at(-1);
  const values = shown.map(({ value: { value } }) => value);
  return {
    values,
    text: await concatenatedTexts(context, values),
    size: shown.length,
    end: last && ends[last.index]?.(),
    next: isLoose ? ends[kept[limit]?.index ?? -1]?.() : undefined,
    shown: last && await mayShowOther(context) ? wholeValue(context, last.value) : undefined,
    more: kept.length > limit,
  };
}

/**
 * A cursor contains only sort values that this JSON shows, or else it could reveal values that a hook hides. The
 * client's JSON may lack sort values.
 */
function wholeValue(
  { pieces, level: { shape } }: OpenLevelContext,
  { value, entity }: ShownEntity,
): unknown {
  return pieces.shown === undefined ? value : toJsonValue(entity, shape);
}

/** A hook or the model may show another value than the stored one, which the cursor must then not reveal. */
export async function mayShowOther(context: OpenLevelContext): Promise<boolean> {
  return mayChangeOrder(context) || !showsStoredValues((await context.model()).schema as Schema);
}

function mayChangeOrder(context: OpenLevelContext): boolean {
  const { level: { hooks } } = context;
  if (!nameTheirFields(hooks)) return mayLeaveOut(context);
  const leftOut = leftOutBy(hooks.preSend);
  return Object.keys(windowOrder(context)).some((path) => leftOut.includes(topOf(path)));
}

export function mayLeaveOut({ level: { hooks } }: OpenLevelContext): boolean {
  return hooks.postFetch !== undefined || hooks.preSend !== undefined;
}
