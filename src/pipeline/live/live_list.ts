import { createHash, createHmac, randomBytes } from "node:crypto";
import { setTimeout } from "node:timers";
import { ChangeFeed } from "../../database/change_feed.ts";
import type { Changes } from "../../database/change_feed.ts";
import { isOutage, tooMany } from "../../errors/refusals.ts";
import { toJson } from "../../json/to_json.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { knownAnswer } from "../request/error_answer.ts";
import { isOver } from "../request/reply.ts";
import { eventsBetween, putsOf, writeEvents } from "./list_events.ts";
import type { Held, Listed, ListEvent } from "./list_events.ts";
import type { LiveReading } from "./live_reading.ts";
import { readEntities } from "./read_entities.ts";

/** A subscriber of a list. */
export interface Subscriber {
  readonly reading: LiveReading;
  /** Gets events, as they are sent; `isList` where they begin with the whole list. */
  tell(pieces: readonly Uint8Array[], isList?: boolean): void;
  /** Is told that the list cannot be read any more. */
  fail(error: unknown): void;
}

/** How a subscriber begins. */
export interface Beginning {
  /** What it has of the list that it was subscribed to before. */
  readonly held?: Held | undefined;
  /** The place that it has come to before, as it was told. */
  readonly place?: string | undefined;
  /** Whether it has missed events. */
  readonly isAgain?: boolean;
}

interface Joining extends Beginning {
  readonly subscriber: Subscriber;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** The most entities that are looked at one by one. */
const MAX_LOOKED_AT = 2000;

const FIRST_PAUSE_MS = 250;

const LONGEST_PAUSE_MS = 5000;

/** Places are told with a digest of what the list shows: another one cannot be continued from there. */
const SECRET = randomBytes(16);

const shared = new Map<string, LiveList>();

/**
 * A list and all who read it. It does one thing at a time: it reads the list, or what has changed of it, compares that with
 * what its subscribers have, and tells them the difference.
 */
export class LiveList {
  readonly #subscribers = new Set<Subscriber>();
  readonly #rules: LiveReading;
  readonly #feed: ChangeFeed | undefined;
  #listening: Promise<() => void> | undefined;
  #joining: Joining[] = [];
  #held: Held = new Map();
  #changed: unknown[] = [];
  /** Whether the whole list has to be read. */
  #isStale = true;
  #place = 0;
  #isWorking = false;

  private constructor(reading: LiveReading) {
    this.#rules = reading;
    this.#feed = reading.model && ChangeFeed.of(reading.model);
  }

  /** Gives the list that a request reads: that of all equal ones, or its own. */
  static for(reading: LiveReading): LiveList {
    const { key, isShared } = reading;
    if (key === undefined || !isShared) return new LiveList(reading);
    const list = shared.get(key) ?? new LiveList(reading);
    shared.set(key, list);
    return list;
  }

  /** Whether a subscriber has the same list after its rights have been asked again. */
  isFor({ key }: LiveReading): boolean {
    return key !== undefined && key === this.#rules.key;
  }

  /** What subscribers have. */
  get held(): Held {
    return new Map(this.#held);
  }

  /** Adds a subscriber; resolves when it has been told what the list is. */
  async join(subscriber: Subscriber, beginning: Beginning = {}): Promise<void> {
    this.#listening ??= this.#feed?.listen((...told) => this.#note(...told));
    try {
      await this.#listening;
    } catch (error) {
      this.#listening = undefined;
      this.#endIfUnused();
      throw error;
    }
    await new Promise<void>((done, failed) => {
      this.#joining.push({ ...beginning, subscriber, done, failed });
      this.#work();
    });
  }

  leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    this.#joining = this.#joining.filter((each) => {
      if (each.subscriber === subscriber) each.done();
      return each.subscriber !== subscriber;
    });
    this.#endIfUnused();
  }

  /** Reads the whole list again. */
  refresh(): void {
    this.#isStale = true;
    this.#work();
  }

  #endIfUnused(): void {
    if (this.#subscribers.size > 0 || this.#joining.length > 0 || this.#isWorking) return;
    this.#listening?.then((stop) => stop(), () => {});
    this.#listening = undefined;
    this.#isStale = true;
    const { key } = this.#rules;
    if (key !== undefined && shared.get(key) === this) shared.delete(key);
  }

  #note(changes: Changes, place: number): void {
    if (changes === "anything" || this.#rules.isOrdered || !changes.every(isNamed)) {
      this.#isStale = true;
    } else this.#changed.push(...changes);
    if (this.#changed.length > MAX_LOOKED_AT) this.#isStale = true;
    if (this.#isStale) this.#changed = [];
    else this.#place = Math.max(this.#place, place);
    this.#work();
  }

  #work(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    void this.#workOff();
  }

  async #workOff(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const reader = this.#joining[0]?.subscriber ?? this.#subscribers.values().next().value;
      if (reader === undefined) break;
      const { reading } = reader;
      const joining = this.#joining;
      const isWhole = this.#isStale || joining.length > 0;
      const changed = this.#changed;
      if (!isWhole && changed.length === 0) break;
      this.#joining = [];
      this.#changed = [];
      this.#isStale = false;
      try {
        if (isWhole) await this.#reread(reading, joining);
        else await this.#look(reading, changed);
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        this.#isStale = true;
        if (!this.#fail(error, { reading, joining })) continue;
        await new Promise((resolve) => void setTimeout(resolve, pauseMs).unref());
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
    this.#isWorking = false;
    this.#endIfUnused();
  }

  /** Tells those whom a failure concerns; gives whether others wait until the database answers again. */
  #fail(
    error: unknown,
    { reading, joining }: { readonly reading: LiveReading; readonly joining: readonly Joining[] },
  ): boolean {
    const answer = knownAnswer(reading.at, error);
    const isPassing = answer !== undefined && isOutage(answer);
    for (const each of joining) {
      const isNew = each.held === undefined && !each.isAgain;
      if (isPassing && !isNew) this.#joining.push(each);
      else each.failed(error);
    }
    if (isPassing) return true;
    for (const subscriber of [...this.#subscribers]) {
      this.#subscribers.delete(subscriber);
      subscriber.fail(error);
    }
    return false;
  }

  async #reread(reading: LiveReading, joining: readonly Joining[]): Promise<void> {
    const { at, run } = reading;
    const place = this.#feed?.place ?? 0;
    const { max = Infinity } = at.level.reads?.live ?? {};
    const found = await run(() => readEntities(at, { max }));
    // What a client gets who has left may not be whole.
    if (isOver(at.req)) {
      this.#isStale = true;
      this.#joining.push(...joining);
      return;
    }
    const entities = found.map((each): Listed => ({ ...each, digest: digestOf(each.text) }));
    const { isOrdered } = this.#rules;
    this.#place = place;
    this.#tellAll(eventsBetween(this.#held, { entities, isOrdered }), joining);
    this.#held = new Map(entities.map(({ id, digest }) => [id, digest]));
    let whole: Uint8Array[] | undefined;
    for (const each of joining) {
      const { subscriber, held, isAgain = false } = each;
      this.#subscribers.add(subscriber);
      if (held !== undefined && !isAgain) {
        const events = eventsBetween(held, { entities, isOrdered });
        if (events.length > 0) subscriber.tell(this.#written(events));
      } else {
        const missed = isAgain ? undefined : this.#missedSince(each.place, entities);
        const isFirst = each.place === undefined && !isAgain;
        if (missed !== undefined) subscriber.tell(this.#written([...missed, { type: "ready" }]));
        else {
          whole ??= this.#written([...putsOf(entities, isOrdered), { type: "ready" }]);
          subscriber.tell(isFirst ? whole : [...writeEvents([{ type: "resync" }]), ...whole], true);
        }
      }
      each.done();
    }
  }

  /** Gives what a reader has missed who comes back; `undefined` where that would tell of what it has never had. */
  #missedSince(place: string | undefined, entities: readonly Listed[]): ListEvent[] | undefined {
    const since = place === undefined ? undefined : this.#readPlace(place);
    const changed = since === undefined ? undefined : this.#feed?.since(since);
    if (changed === undefined) return undefined;
    if (changed.length === 0) return [];
    if (this.#rules.isOrdered || !changed.every(isNamed)) return undefined;
    const names = new Set(changed.map((id) => toJson(id)));
    const missed = entities.filter(({ id }) => names.has(id));
    return missed.length < names.size ? undefined : putsOf(missed, false);
  }

  async #look({ at, run }: LiveReading, ids: readonly unknown[]): Promise<void> {
    const { max = Infinity } = at.level.reads?.live ?? {};
    const gone = new Set(ids.map((id) => toJson(id)));
    const found = await run(() => readEntities(at, { ids, max: Infinity }));
    if (isOver(at.req)) {
      this.#isStale = true;
      return;
    }
    const events: ListEvent[] = [];
    for (const { id, text } of found) {
      gone.delete(id);
      const digest = digestOf(text);
      if (this.#held.get(id) === digest) continue;
      this.#held.set(id, digest);
      events.push({ type: "put", text });
    }
    for (const id of gone) if (this.#held.delete(id)) events.push({ type: "drop", id });
    this.#tellAll(events);
    if (this.#held.size > max) throw tooMany(max);
  }

  #tellAll(events: readonly ListEvent[], joining: readonly Joining[] = []): void {
    if (events.length === 0 || this.#subscribers.size === 0) return;
    const pieces = this.#written(events);
    const again = new Set(joining.map(({ subscriber }) => subscriber));
    for (const each of this.#subscribers) if (!again.has(each)) each.tell(pieces);
  }

  #written(events: readonly ListEvent[]): Uint8Array[] {
    return writeEvents(events, this.#rules.isResumable ? this.#writePlace(this.#place) : "");
  }

  #writePlace(place: number): string {
    const mark = createHmac("sha256", SECRET).update(`${this.#feed?.name} ${this.#rules.key}`);
    return `${place.toString(36)}.${mark.digest("base64url").slice(0, 12)}`;
  }

  #readPlace(text: string): number | undefined {
    const place = parseInt(text, 36);
    return this.#rules.isResumable && this.#writePlace(place) === text ? place : undefined;
  }
}

/** Whether an identifier is the same for the database and in JSON. */
function isNamed(id: unknown): boolean {
  return isObjectId(id) || typeof id === "string" || typeof id === "number";
}

function digestOf(text: string | Uint8Array): string {
  return createHash("sha1").update(text).digest("base64");
}
