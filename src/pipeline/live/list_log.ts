import { randomBytes } from "node:crypto";
import { putsOf, READY } from "./list_events.ts";
import type { ListEvent, LiveEntities } from "./list_events.ts";

/** How many changes are remembered. */
const REMEMBERED = 1000;

/** The changes of a list from version to version, so that a client can continue from the one that it has. */
export class ListLog {
  /** Marks the places of this list: those of another one, or of other rights, mean nothing in it. */
  readonly #mark = randomBytes(9).toString("base64url");
  readonly #changes: (readonly string[])[] = [];
  #version = 0;

  /** Tells how often the list has changed. */
  get version(): number {
    return this.#version;
  }

  /** The version, as clients are told. */
  get place(): string {
    return `${this.#version.toString(36)}.${this.#mark}`;
  }

  add(events: readonly ListEvent[]): void {
    this.#version++;
    this.#changes.push(events.flatMap((event) => "id" in event ? [event.id] : []));
    if (this.#changes.length > REMEMBERED) this.#changes.shift();
  }

  /** Gives the events that a client has missed; `undefined` where that is unknown, or would tell of what it never had. */
  missedSince(
    place: string | undefined,
    { list: { entities, isOrdered }, last }: MissedOptions,
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

/** A change that a list has just told, and the version before it. */
export interface LastChange {
  readonly version: number;
  readonly events: readonly ListEvent[];
}

interface MissedOptions {
  /** The list as it is now. */
  readonly list: LiveEntities;
  readonly last: LastChange;
}
