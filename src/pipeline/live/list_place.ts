import { createHmac, randomBytes } from "node:crypto";
import type { ChangeFeed } from "../../database/change_feed.ts";

/** What a place belongs to: the feed that counts changes, and the key of a list that can be continued. */
export interface ListPlace {
  readonly feed: ChangeFeed | undefined;
  readonly list: string | undefined;
}

const SECRET = randomBytes(16);

/** Writes up to which change a list has been told. A mark keeps other lists, and other rights, from continuing there. */
export function writePlace(place: number, { feed, list }: ListPlace): string {
  if (feed === undefined || list === undefined) return "";
  const mark = createHmac("sha256", SECRET).update(`${feed.name} ${list}`).digest("base64url");
  return `${place.toString(36)}.${mark.slice(0, 12)}`;
}

export function readPlace(text: string, of: ListPlace): number | undefined {
  const place = parseInt(text, 36);
  return writePlace(place, of) === text ? place : undefined;
}
