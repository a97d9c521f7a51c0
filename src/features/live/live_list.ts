import { createHash } from "node:crypto";
import { clearTimeout, setTimeout } from "node:timers";
import { ChangeFeed, type Changes } from "../../store/change_feed.ts";
import { MARGIN_MS, TimeBudget } from "../../store/time_budget.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { toJson } from "../../json/to_json.ts";
import { isOutage } from "../../pipeline/failures.ts";
import { errorAnswer, translatedAnswer } from "../../pipeline/request/reporter.ts";
import { isOver } from "../../pipeline/request/response.ts";
import { eventsBetween, isNamed, ListLog, putsOf, READY, writeEvents } from "./list_events.ts";
import type { KnownDigests, ListEvent } from "./list_events.ts";
import { type LiveSource, readEntities } from "./live_reading.ts";

export interface Subscriber {
  readonly reading: LiveSource;
  /** `isList` marks a whole list, without which a client that lost events cannot continue. */
  send(pieces: readonly Uint8Array[], isList?: boolean): void;
  end(): void;
}

export interface Beginning {
  /** Entities that the client had before a change of its rights. */
  readonly held?: KnownDigests | undefined;
  /** The last event `id` of an earlier connection. */
  readonly place?: string | undefined;
  readonly isAgain?: boolean;
}

interface Joining extends Beginning {
  readonly subscriber: Subscriber;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

const MAX_LOOKED_AT = 2000;

const FIRST_PAUSE_MS = 250;

const LONGEST_PAUSE_MS = 5000;

const shared = new Map<string, LiveList>();

/** Lists stay for a minute without subscribers, so that clients that reconnect get only missed changes. */
const unread = new Map<LiveList, ReturnType<typeof setTimeout>>();

const UNREAD_MS = 60_000;

const MAX_UNREAD = 50;

/** Only one read runs at a time, so that events keep the order of the changes. */
export class LiveList {
  readonly #source: LiveSource;
  readonly #subscribers = new Set<Subscriber>();
  readonly #joining = new Set<Joining>();
  #stopListening: (() => void) | undefined;
  #held: KnownDigests = new Map();
  #changed: unknown[] = [];
  #isStale = true;
  readonly #log = new ListLog();
  #isWorking = false;

  private constructor(reading: LiveSource) {
    this.#source = reading;
  }

  /** Equal requests share a list, unless hooks or middleware could give them different results. */
  static for(reading: LiveSource): LiveList {
    const { key, isShared } = reading;
    if (key === undefined || !isShared) return new LiveList(reading);
    const list = shared.get(key) ?? new LiveList(reading);
    shared.set(key, list);
    clearTimeout(unread.get(list));
    unread.delete(list);
    return list;
  }

  isFor({ key }: LiveSource): boolean {
    return key !== undefined && key === this.#source.key;
  }

  get held(): KnownDigests {
    return new Map(this.#held);
  }

  /** The promise also resolves when the subscriber has left. */
  join(subscriber: Subscriber, beginning: Beginning = {}): Promise<void> {
    return new Promise((done, failed) => {
      this.#joining.add({ ...beginning, subscriber, done, failed });
      this.#work();
    });
  }

  leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    for (const each of this.#joining) {
      if (each.subscriber === subscriber && this.#joining.delete(each)) each.done();
    }
    this.#endIfUnused();
  }

  refresh(): void {
    this.#isStale = true;
    this.#work();
  }

  #endIfUnused(): void {
    if (this.#subscribers.size > 0 || this.#joining.size > 0 || this.#isWorking) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#isStale = true;
    const { key = "" } = this.#source;
    if (shared.get(key) !== this) return;
    clearTimeout(unread.get(this));
    const forget = () => void (unread.delete(this), shared.delete(key));
    if (unread.size >= MAX_UNREAD) forget();
    else unread.set(this, setTimeout(forget, UNREAD_MS).unref());
  }

  #note(changes: Changes): void {
    if (changes === "anything" || this.#source.isOrdered || !changes.every(isNamed)) {
      this.#isStale = true;
    } else this.#changed.push(...changes);
    if (this.#changed.length > MAX_LOOKED_AT) this.#isStale = true;
    if (this.#isStale) this.#changed = [];
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
      const [joining] = this.#joining;
      const [reader = joining?.subscriber] = this.#subscribers;
      const isDue = joining !== undefined || this.#isStale || this.#changed.length > 0;
      if (reader === undefined || !isDue) break;
      const { reading } = reader;
      try {
        await this.#listen(reading);
        await (this.#isStale || this.#joining.size > 0
          ? this.#reread(reading)
          : this.#look(reading));
        // The client of this read has disconnected, so the read may be incomplete, and another request repeats it.
        if (isOver(reading.context.req)) this.leave(reader);
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        this.#isStale = true;
        if (!this.#fail(error, reading)) continue;
        await new Promise((resolve) => void setTimeout(resolve, pauseMs).unref());
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
    this.#isWorking = false;
    this.#endIfUnused();
  }

  /** A change during the first read would be lost if listening began later. */
  async #listen({ model, context: { route } }: LiveSource): Promise<void> {
    if (model === undefined || this.#stopListening !== undefined) return;
    const timeBudget = new TimeBudget(route.maxTimeMS + MARGIN_MS);
    const note = (changes: Changes) => this.#note(changes);
    this.#stopListening = await ChangeFeed.of(model).listen(note, timeBudget);
  }

  /**
   * Returns `true` for an outage of the database, after which the list is read again. A new subscriber always gets the
   * error.
   */
  #fail(error: unknown, { context }: LiveSource): boolean {
    const isPassing = isOutage(translatedAnswer(context, error));
    for (const each of this.#joining) {
      const isNew = each.held === undefined && each.isAgain !== true;
      if ((isNew || !isPassing) && this.#joining.delete(each)) each.failed(error);
    }
    if (this.#subscribers.size > 0) void errorAnswer(context, error);
    if (isPassing) return true;
    for (const each of [...this.#subscribers]) each.end();
    return false;
  }

  async #reread({ context, max, run }: LiveSource): Promise<void> {
    const entering = [...this.#joining];
    this.#changed = [];
    this.#isStale = false;
    const found = await run(() => readEntities(context, { max }));
    if (isOver(context.req)) {
      this.#isStale = true;
      return;
    }
    const entities = found.map((each) => ({ ...each, digest: digestOf(each.text) }));
    const list = { entities, isOrdered: this.#source.isOrdered };
    const { version } = this.#log;
    const last = { version, events: eventsBetween(this.#held, list) };
    this.#sendAll(last.events);
    this.#held = new Map(entities.map(({ id, digest }) => [id, digest]));
    let written: Uint8Array[] | undefined;
    const whole = () =>
      written ??= this.#written([...putsOf(list.entities, list.isOrdered), READY]);
    for (const each of entering) {
      if (!this.#joining.delete(each)) continue;
      const { subscriber, held, place, isAgain, done } = each;
      this.#subscribers.add(subscriber);
      const missed = isAgain
        ? undefined
        : held === undefined
        ? this.#log.missedSince(place, { list, last })
        : eventsBetween(held, list);
      if (missed !== undefined) subscriber.send(this.#written(missed));
      else if (place === undefined && !isAgain) subscriber.send(whole(), true);
      else subscriber.send([...writeEvents([{ type: "resync" }]), ...whole()], true);
      done();
    }
  }

  async #look({ context, max, run }: LiveSource): Promise<void> {
    const ids = this.#changed;
    this.#changed = [];
    const found = await run(() => readEntities(context, { ids, max: Infinity }));
    if (isOver(context.req)) {
      this.#isStale = true;
      return;
    }
    // A changed entity that is not found was removed or does not match any more.
    const gone = new Set(ids.map((id) => toJson(id)));
    const events: ListEvent[] = [];
    for (const { id, text } of found) {
      gone.delete(id);
      const digest = digestOf(text);
      if (this.#held.get(id) === digest) continue;
      this.#held.set(id, digest);
      events.push({ type: "put", id, text });
    }
    for (const id of gone) if (this.#held.delete(id)) events.push({ type: "drop", id });
    this.#sendAll(events);
    if (this.#held.size > max) throw new StoreFailure({ kind: "tooMany", limit: max });
  }

  /** A joining subscriber next gets the whole list with these changes, so it gets no events now. */
  #sendAll(events: readonly ListEvent[]): void {
    if (events.length === 0) return;
    // No client can reconnect to a list that is not shared, so its changes need no log.
    if (this.#source.isShared) this.#log.add(events);
    const again = new Set([...this.#joining].map(({ subscriber }) => subscriber));
    const pieces = this.#subscribers.size > 0 ? this.#written(events) : [];
    for (const each of this.#subscribers) if (!again.has(each)) each.send(pieces);
  }

  #written(events: readonly ListEvent[]): Uint8Array[] {
    return writeEvents(events, this.#source.isShared ? this.#log.place : "");
  }
}

function digestOf(text: string | Uint8Array): string {
  return createHash("sha1").update(text).digest("base64");
}
