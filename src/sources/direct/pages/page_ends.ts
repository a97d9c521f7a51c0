import { Buffer } from "node:buffer";
import { isEmpty } from "../../../filter/filters.ts";
import type { SeekPlace } from "../../../filter/parameters/seek_bounds.ts";
import { SEEK_READ, valueAt } from "../../../filter/parameters/seek_values.ts";
import { identifierIn } from "../../../json/transcode/documents.ts";
import { continuesFrom } from "../../page_bounds.ts";
import type { PageRead } from "../../source.ts";
import type { OpenCollection } from "../direct_plan.ts";
import type { JsonQuery } from "../reads/json_reader.ts";
import { RecentDocuments } from "../reads/recent_documents.ts";
import { bytesOf } from "../reads/same_turn.ts";
import { decodeBson } from "../reads/stored_writer.ts";
import type { Stored } from "../reads/stored_writer.ts";

/**
 * The last entities of pages of one model, as they were stored. The next page can be read from where one stood; whether it
 * still stands there, the read itself tells.
 */
export class PageEnds {
  readonly #recent = new RecentDocuments<null>({ most: 2 ** 20, largest: 4096 });

  /** Gives what was stored of an entity when a page ended with it. */
  find(id: string): Record<string, unknown> | undefined {
    const found = this.#recent.find(id);
    return found && decodeBson(found.bytes, SEEK_READ) as Record<string, unknown>;
  }

  /** Keeps an entity if the page behind it can be read from an index. */
  keep(
    end: Stored | undefined,
    { model, shape, projection, options: { sort } }:
      & Pick<OpenCollection, "model" | "shape">
      & Pick<JsonQuery, "projection" | "options">,
  ): void {
    const id = nameIn(end);
    if (id === undefined || !showsPlace({ projection, options: { sort } })) return;
    if (!continuesFrom({ model, shape }, sort)) return;
    this.#recent.keep(id, { bytes: end as Buffer, note: null });
  }
}

/** Whether the documents that a query gives have all by which it sorts. */
export function showsPlace(
  { projection, options: { sort } }: Pick<JsonQuery, "projection" | "options">,
): boolean {
  return isEmpty(projection) ||
    Object.keys(Object(sort)).every((path) => projection[path] === 1);
}

/**
 * Whether a document is the one that a page is behind, and stands where that one stood. That it comes first does not tell:
 * an array has several places in an index, and the database may have refused to begin at a place.
 */
export function standsAt(stored: Stored | undefined, { place }: PageRead): boolean {
  if (place === undefined || !Buffer.isBuffer(stored)) return false;
  const values = decodeBson(stored, SEEK_READ) as SeekPlace["values"];
  return isSamePlace({ ...place, values }, place);
}

export function isSamePlace(one: SeekPlace, other: SeekPlace): boolean {
  return placeText(one) === placeText(other);
}

function placeText({ order, values }: SeekPlace): string {
  return bytesOf(
    Object.fromEntries(Object.keys(order).map((path) => [path, valueAt(values, path)])),
  );
}

/** The identifier of a document, if it is the usual one. */
function nameIn(stored: Stored | undefined): string | undefined {
  return Buffer.isBuffer(stored) ? identifierIn(stored) : undefined;
}
