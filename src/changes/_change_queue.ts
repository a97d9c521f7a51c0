import { clearTimeout, setTimeout } from "node:timers";
import type { Position, Progress } from "./_lease.ts";
import {
  type Attempt,
  type ChangeEvent,
  changeKey,
  sizeOf,
  timeOf,
  withoutValues,
} from "./change.ts";
import { unlessAborted } from "./_waits.ts";

/** With so many waiting changes, the follower stops reading, so that slow handlers do not fill the memory. */
const MAX_WAITING = 1000;

/** In bytes. A waiting change drops larger values, so that 1,000 changes take at most about 64 MB. */
const MAX_KEPT_BYTES = 65_536;

export interface ChangeQueueOptions {
  /** All changes up to this position are handled. */
  readonly position: Position;
  readonly at: Date;
  readonly concurrency: number;
  readonly timeoutMS: number;
  readonly attempts: number;
  readonly pauses: { readonly firstMS: number; readonly longestMS: number };
  /** `false` without the lease, which allows only one process at a time to handle changes. */
  readonly mayStart: () => boolean;
  readonly handle: (event: ChangeEvent, attempt: Attempt) => Promise<void>;
  /** Reads dropped values again, because large values would fill the memory while a change waits. */
  readonly read: (event: ChangeEvent, context: ReadContext) => Promise<ChangeEvent>;
  /** Stores a dead letter. If that fails, the handler is called again. */
  readonly bury: (event: ChangeEvent, attempt: FailedAttempt) => Promise<void>;
}

export interface FailedAttempt extends Attempt {
  readonly error: unknown;
}

export interface ReadContext {
  /** The position before the change, to read dropped values again. A dead letter stores the values, and needs none. */
  readonly position: Position | undefined;
  readonly signal: AbortSignal;
}

interface WaitingChange extends Pick<ReadContext, "position"> {
  event: ChangeEvent;
  readonly key: string;
  hasValues: boolean;
  attempts: number;
}

/** Changes of one entity are handled in order, and changes of different entities at the same time. */
export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  /**
   * Changes in the order of reading. The stored position stays before the first, because a restart would otherwise skip
   * it.
   */
  readonly #waiting = new Set<WaitingChange>();
  readonly #lanes = new Map<string, WaitingChange[]>();
  #ready: string[] = [];
  readonly #running = new Set<AbortController>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;
  #wake: (() => void)[] = [];
  #read: { position: Position; at: Date; caughtUp: number | undefined };
  hasNews = false;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
    this.#read = { position: options.position, at: options.at, caughtUp: undefined };
  }

  get position(): Position {
    return this.#read.position;
  }

  /** The time up to which changes are read, by the clock of the database. */
  get readAt(): Date {
    return this.#read.at;
  }

  progress(): Progress {
    this.hasNews = false;
    for (const { position, event } of this.#waiting) {
      if (position !== undefined) return { position, at: timeOf(event) };
    }
    const { position, at, caughtUp } = this.#read;
    return caughtUp === undefined
      ? { position, at }
      : { position, idleMS: performance.now() - caughtUp };
  }

  readTo(position: Position, at?: Date): void {
    const caughtUp = at === undefined ? performance.now() : undefined;
    if (this.#read.caughtUp === undefined) this.hasNews = true;
    this.#read = { position, at: at ?? this.#read.at, caughtUp };
  }

  add(event: ChangeEvent, { isReplay = false } = {}): void {
    if (isReplay && [...this.#waiting].some((each) => each.event._id._data === event._id._data)) {
      return;
    }
    const key = changeKey(event);
    const position = isReplay ? undefined : this.#read.position;
    const change = { event, key, position, hasValues: true, attempts: 0 };
    this.#waiting.add(change);
    this.hasNews = true;
    if (!isReplay) this.readTo({ token: event._id }, timeOf(event));
    const lane = this.#lanes.get(key);
    if (lane === undefined) {
      this.#lanes.set(key, [change]);
      this.#ready.push(key);
      this.#start();
    } else lane.push(change);
    if (change.attempts === 0) this.#dropValues(change);
  }

  room(): Promise<void> {
    return this.#until(() => this.#waiting.size < MAX_WAITING || this.#isClosed);
  }

  empty(): Promise<void> {
    return this.#until(() => this.#waiting.size === 0 || this.#isClosed);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#awake();
    return this.#until(() => this.#running.size === 0);
  }

  abort(reason: unknown): void {
    this.#isClosed = true;
    for (const controller of this.#running) controller.abort(reason);
    this.#awake();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  #awake(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resolve of wake) resolve();
  }

  #start(): void {
    const { concurrency, mayStart } = this.#options;
    while (!this.#isClosed && this.#running.size < concurrency && mayStart()) {
      const change = this.#lanes.get(this.#ready.shift() ?? "")?.[0];
      if (change === undefined) return;
      void this.#run(change);
    }
  }

  async #run(change: WaitingChange): Promise<void> {
    const controller = new AbortController();
    this.#running.add(controller);
    const isDone = await this.#attempt(change, controller);
    this.#running.delete(controller);
    if (isDone) this.#settle(change);
    else this.#postpone(change);
    this.#awake();
    this.#start();
  }

  #settle(change: WaitingChange): void {
    this.#waiting.delete(change);
    this.hasNews = true;
    const lane = this.#lanes.get(change.key) ?? [];
    lane.shift();
    if (lane.length > 0) this.#ready.push(change.key);
    else this.#lanes.delete(change.key);
  }

  #dropValues(change: WaitingChange): void {
    if (!change.hasValues || sizeOf(change.event) <= MAX_KEPT_BYTES) return;
    change.event = withoutValues(change.event);
    change.hasValues = false;
  }

  #postpone(change: WaitingChange): void {
    if (this.#isClosed) return;
    const { key, attempts } = change;
    this.#dropValues(change);
    const { firstMS, longestMS } = this.#options.pauses;
    const pause = Math.min(longestMS, firstMS * 2 ** (attempts - 1));
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#ready.push(key);
      this.#start();
    }, pause * (0.75 + Math.random() / 4));
    this.#timers.add(timer);
  }

  async #attempt(change: WaitingChange, controller: AbortController): Promise<boolean> {
    const { timeoutMS, attempts, handle, read, bury } = this.#options;
    const late = () => controller.abort(new Error(`The handler took more than ${timeoutMS} ms`));
    const timer = setTimeout(late, timeoutMS);
    const { signal } = controller;
    const { position, hasValues } = change;
    const attempt = { attempt: ++change.attempts, isReplay: position === undefined, signal };
    let { event } = change;
    try {
      if (!hasValues) event = await unlessAborted(signal, read(event, { position, signal }));
      await unlessAborted(signal, handle(event, attempt));
      return true;
    } catch (error) {
      if (this.#isClosed || change.attempts < attempts) return false;
      return await bury(event, { ...attempt, error }).then(() => true, () => false);
    } finally {
      clearTimeout(timer);
    }
  }
}
