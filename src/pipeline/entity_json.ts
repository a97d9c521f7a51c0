import type { JsonPiece } from "../json/bytes/join_json.ts";
import { populatedText, wantIn } from "../json/populate/populate_value.ts";
import { wantNothing } from "../json/populate/targets.ts";
import { toJson, toJsonValue } from "../json/to_json.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { ReadEntity } from "./fetch.ts";
import type { OpenLevel } from "./request/call.ts";

/** How many entities wait for those that they name. */
const AT_ONCE = 128;

/** An entity that has passed its hooks: as JSON text, or as a value of JSON whose references are still identifiers. */
export type EntityJson = JsonPiece | { readonly value: unknown };

export interface ShownEntity {
  readonly entity: object;
  /** What it was read as: a hook may have put another object in its place. */
  readonly read: ReadEntity;
}

/**
 * Writes an entity: the fields that the client has selected, or all.
 */
export function writeEntity(
  { asked: { select }, level: { shape }, finder }: OpenLevel,
  { entity, read }: ShownEntity,
): EntityJson {
  if (finder === undefined && select === undefined) {
    return (entity === read.entity ? read.json?.() : undefined) ?? toJson(entity, shape);
  }
  const value = toJsonValue(entity, shape);
  const shown = select !== undefined && isJsonObject(value)
    ? Object.fromEntries(
      Object.entries(value).filter(([name]) => name === "_id" || select.includes(name)),
    )
    : value;
  return finder === undefined ? JSON.stringify(shown) ?? "null" : { value: shown };
}

/** Gives the JSON text of entities, with the entities that they name. */
export async function entityTexts(
  { finder, timeBudget }: OpenLevel,
  entities: readonly EntityJson[],
): Promise<JsonPiece[]> {
  if (finder === undefined) return entities as JsonPiece[];
  const values = entities.map((each) => (each as { readonly value: unknown }).value);
  const wanted = wantNothing(finder);
  for (const value of values) wantIn(value, wanted);
  const targets = await timeBudget.waitForNext(finder.find(wanted));
  return values.map((value) => populatedText(value, targets));
}

/** The same for a list, some entities at a time. */
export async function* listTexts(
  at: OpenLevel,
  lists: AsyncIterable<readonly EntityJson[]>,
): AsyncGenerator<JsonPiece[]> {
  let held: EntityJson[] = [];
  for await (const entities of lists) {
    held.push(...entities);
    if (at.finder !== undefined && held.length < AT_ONCE) continue;
    yield await entityTexts(at, held);
    held = [];
  }
  if (held.length > 0) yield await entityTexts(at, held);
}
