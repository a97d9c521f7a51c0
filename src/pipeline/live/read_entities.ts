import { Buffer } from "node:buffer";
import { MARGIN_MS, TimeBudget } from "../../database/time_budget.ts";
import { andThen } from "../../declare/hooks/run_hook.ts";
import { tooMany } from "../../errors/refusals.ts";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import { toJson } from "../../json/to_json.ts";
import { fetchEntities } from "../fetch.ts";
import { mapInOrder } from "../lists/map_in_order.ts";
import { fillPage, planPage } from "../lists/page.ts";
import { entityTexts, inBatches, showEntity } from "../read.ts";
import type { OpenLevel } from "../request/call.ts";
import { runDirect } from "../run_direct.ts";
import type { LiveEntity } from "./list_events.ts";

interface ReadEntities {
  /** The identifiers of those that are read; all if there are none. */
  readonly ids?: readonly unknown[];
  readonly max: number;
}

/** Reads a list, or some of its entities, as a GET shows it now; a 409 if there are too many. */
export async function readEntities(
  at: OpenLevel,
  { ids, max }: ReadEntities,
): Promise<LiveEntity[]> {
  const timeBudget = new TimeBudget(at.route.maxTimeMS + MARGIN_MS);
  const reading = { ...at, timeBudget, source: at.source.within({ timeBudget, ids }) };
  const { page: asked } = at.asked;
  const page = asked && await planPage(reading, asked);
  const most = page?.limit ?? Infinity;
  const found: LiveEntity[] = [];
  for await (const texts of textsOf(reading, page)) {
    for (const text of texts) if (found.length < most) found.push({ id: idIn(text), text });
    if (found.length > max) throw tooMany(max);
  }
  return found;
}

async function* textsOf(
  at: OpenLevel,
  page: Awaited<ReturnType<typeof planPage>> | undefined,
): AsyncGenerator<readonly JsonPiece[]> {
  const { each } = await runDirect(at, { page, isApart: true }) ?? {};
  if (each !== undefined) yield* each;
  else if (page !== undefined) yield await entityTexts(at, (await fillPage(at, page)).values ?? []);
  else {
    const show = (entity: object) =>
      andThen(showEntity(at, entity), (shown) => {
        const { _id } = entity as { readonly _id?: unknown };
        if (shown !== undefined && idOf(shown) !== toJson(_id)) throw unnamed();
        return shown;
      });
    const shown = mapInOrder(fetchEntities(at), show);
    for await (const values of inBatches(at, shown)) yield await entityTexts(at, values);
  }
}

const BEGINNING = /^\{"_id":("[0-9a-f]{24}")/;

const BEGINNING_LENGTH = 33;

function idIn(text: JsonPiece): string {
  const json = typeof text === "string"
    ? text
    : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const beginning = typeof json === "string" ? json : json.toString("latin1", 0, BEGINNING_LENGTH);
  const [, id] = BEGINNING.exec(beginning) ?? [];
  return id ?? idOf(JSON.parse(json.toString()));
}

function idOf(entity: unknown): string {
  const { _id } = Object(entity) as { readonly _id?: unknown };
  if (_id === undefined) throw unnamed();
  return JSON.stringify(_id);
}

function unnamed(): TypeError {
  return new TypeError(
    "Cannot send a live list: a hook shows an entity without its _id, by which clients tell entities apart",
  );
}
