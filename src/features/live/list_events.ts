import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { type JsonPiece, PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";

export interface LiveEntity {
  readonly id: string;
  readonly text: JsonPiece;
}

export type ListEvent =
  | {
    readonly type: "put";
    readonly id: string;
    readonly text: JsonPiece;
    readonly after?: string | null;
  }
  | { readonly type: "drop"; readonly id: string }
  | { readonly type: "resync" | "ready" };

/** Digests of the JSON by identifier, because whole entities would fill the memory. */
export type KnownDigests = Map<string, string>;

export interface Listed extends LiveEntity {
  readonly digest: string;
}

export interface LiveEntities {
  readonly entities: readonly Listed[];
  readonly isOrdered: boolean;
}

export const READY: ListEvent = { type: "ready" };

/** In a sorted list, the identifier before an entity tells the client its position. */
export function eventsBetween(
  held: KnownDigests,
  { entities, isOrdered }: LiveEntities,
): ListEvent[] {
  const ids = new Set(entities.map(({ id }) => id));
  const drops = [...held.keys()].filter((id) => !ids.has(id))
    .map((id): ListEvent => ({ type: "drop", id }));
  const stays = isOrdered ? inSameOrder(held, entities) : ids;
  const puts = putsOf(entities, isOrdered)
    .filter((_, index) => {
      const { id, digest } = entities[index] as Listed;
      return held.get(id) !== digest || !stays.has(id);
    });
  return [...drops, ...puts];
}

/** An `_id` of another type may have other JSON in a change than in the list, which is then read again. */
export function isNamed(id: unknown): boolean {
  return isObjectId(id) || typeof id === "string" || typeof id === "number";
}

export function putsOf(entities: readonly LiveEntity[], isOrdered: boolean): ListEvent[] {
  return entities.map(({ id, text }, index) => ({
    type: "put",
    id,
    text,
    ...isOrdered && { after: entities[index - 1]?.id ?? null },
  }));
}

/** The largest set of entities that need no events is a longest increasing subsequence of old positions. */
function inSameOrder(held: KnownDigests, entities: readonly Listed[]): Set<string> {
  const places = new Map([...held.keys()].map((id, place) => [id, place]));
  const unchanged = entities.filter(({ id, digest }) => held.get(id) === digest).map(({ id }) =>
    id
  );
  const placeAt = (index: number) => places.get(unchanged[index] as string) as number;
  /** `ends` has, for each length, the end with the smallest old position. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (let index = 0; index < unchanged.length; index++) {
    let low = 0;
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >> 1;
      if (placeAt(ends[middle] as number) < placeAt(index)) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1];
    ends[low] = index;
  }
  const kept = new Set<string>();
  for (let index = ends.at(-1); index !== undefined; index = before[index]) {
    kept.add(unchanged[index] as string);
  }
  return kept;
}

/** A client that reconnects sends the last `id` as `Last-Event-ID`. */
export function writeEvents(events: readonly ListEvent[], place = ""): Buffer[] {
  const pieces: Buffer[] = [];
  let parts: Buffer[] = [];
  let size = 0;
  for (const [index, event] of events.entries()) {
    const isLast = index === events.length - 1;
    // While the whole list is sent, the client cannot continue from any version, so `resync` clears its `id`.
    const id = isLast ? `id: ${place}\n` : event.type === "resync" ? "id:\n" : "";
    for (const part of [`event: ${event.type}\n${id}data: `, ...dataOf(event), "\n\n"]) {
      const bytes = typeof part === "string"
        ? Buffer.from(part)
        : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      parts.push(bytes);
      size += bytes.length;
    }
    if (size < PIECE_BYTES && !isLast) continue;
    pieces.push(Buffer.concat(parts));
    parts = [];
    size = 0;
  }
  return pieces;
}

function dataOf(event: ListEvent): JsonPiece[] {
  if (event.type === "drop") return [`{"_id":${event.id}}`];
  if (event.type !== "put") return ["{}"];
  const { text, after } = event;
  return ['{"entity":', text, after === undefined ? "}" : `,"after":${after}}`];
}

/** The latest versions whose changes are kept. With an older version, a client gets the whole list. */
const MAX_VERSIONS = 1000;

/** The most changed identifiers of all these versions. */
const MAX_IDS = 10_000;

export class ListLog {
  /** A client cannot continue from an event `id` with another mark, of another list or other rights. */
  readonly #mark = randomBytes(9).toString("base64url");
  readonly #changes: (readonly string[])[] = [];
  #idCount = 0;
  #version = 0;

  get version(): number {
    return this.#version;
  }

  get place(): string {
    return `${this.#version.toString(36)}.${this.#mark}`;
  }

  add(events: readonly ListEvent[]): void {
    this.#version++;
    const ids = events.flatMap((event) => "id" in event ? [event.id] : []);
    this.#changes.push(ids);
    this.#idCount += ids.length;
    while (this.#changes.length > MAX_VERSIONS || this.#idCount > MAX_IDS) {
      this.#idCount -= this.#changes.shift()?.length ?? 0;
    }
  }

  /**
   * Returns `undefined` if the client needs the whole list: its version is unknown, a changed entity is gone, which it
   * may never have had, or a sorted list lacks more than the last events.
   */
  missedSince(
    place: string | undefined,
    { list: { entities, isOrdered }, last }: {
      readonly list: LiveEntities;
      readonly last: { readonly version: number; readonly events: readonly ListEvent[] };
    },
  ): ListEvent[] | undefined {
    const [text = "", mark] = place?.split(".") ?? [];
    const version = parseInt(text, 36);
    if (mark !== this.#mark) return undefined;
    if (version === last.version) return [...last.events, READY];
    const count = this.#version - version;
    if (isOrdered || !(count > 0 && count <= this.#changes.length)) return undefined;
    const changed = new Set(this.#changes.slice(-count).flat());
    const missed = entities.filter(({ id }) => changed.has(id));
    return missed.length < changed.size ? undefined : [...putsOf(missed, false), READY];
  }
}
