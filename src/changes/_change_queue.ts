import { clearTimeout, setTimeout } from "node:timers";
import type { Position, Progress } from "./_lease.ts";
import { type Attempt, type ChangeEvent, keyOf, sizeOf, timeOf, withoutValues } from "./change.ts";
import { unlessAborted } from "./_waits.ts";

/** The changes that wait at once: beyond them, reading waits. */
const MAX_WAITING = 1000;

/** The size of a change up to which it waits with its values. All that wait have 64 MB at most. */
const MAX_KEPT_BYTES = 65_536;

export interface RetryLimits {
  readonly attempts: number;
  readonly pauseMS: number;
  readonly maxPauseMS: number;
}

export interface ChangeQueueOptions {
  /** Where reading begins. */
  readonly position: Position;
  readonly at: Date;
  readonly concurrency: number;
  readonly timeoutMS: number;
  readonly retry: RetryLimits;
  /** Whether this process may handle changes. */
  readonly mayStart: () => boolean;
  readonly handle: (event: ChangeEvent, attempt: Attempt) => Promise<void>;
  /** Reads a change again that has waited without its values. */
  readonly read: (event: ChangeEvent, place: ChangePlace) => Promise<ChangeEvent>;
  /** Keeps a change that failed in all attempts; it is tried again if that fails. */
  readonly bury: (event: ChangeEvent, attempt: FailedAttempt) => Promise<void>;
}

/** The last attempt for a change. */
export interface FailedAttempt extends Attempt {
  readonly error: unknown;
}

/** Where a change can be read again. */
export interface ChangePlace {
  /** The position before the change; a dead letter has none. */
  readonly position: Position | undefined;
  readonly signal: AbortSignal;
}

/** A change that is not handled. */
interface WaitingChange extends Pick<ChangePlace, "position"> {
  event: ChangeEvent;
  readonly key: string;
  /** Whether the event has its values. */
  hasValues: boolean;
  attempts: number;
}

/**
 * Handles changes: those of one entity one after the other, those of different ones side by side. What fails is tried again
 * after a pause, in which only its entity waits.
 */
export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  /** In the order in which they were read. */
  readonly #waiting = new Set<WaitingChange>();
  readonly #lanes = new Map<string, WaitingChange[]>();
  #ready: string[] = [];
  readonly #running = new Set<AbortController>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;
  #wake: (() => void)[] = [];
  #read: { position: Position; at: Date; caughtUp: number | undefined };
  /** Whether there is progress to note. */
  hasNews = false;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
    this.#read = { position: options.position, at: options.at, caughtUp: undefined };
  }

  /** Where reading goes on. */
  get position(): Position {
    return this.#read.position;
  }

  /** How far all changes are handled. */
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

  /** Notes that everything up to a position is read: up to a change, or all that there is at the moment. */
  readTo(position: Position, at?: Date): void {
    const caughtUp = at === undefined ? performance.now() : undefined;
    if (this.#read.caughtUp === undefined) this.hasNews = true;
    this.#read = { position, at: at ?? this.#read.at, caughtUp };
  }

  /** Adds a change: the one behind the position, or that of a dead letter, which is added once. */
  add(event: ChangeEvent, { isReplay = false } = {}): void {
    if (isReplay && [...this.#waiting].some((each) => each.event._id._data === event._id._data)) {
      return;
    }
    const key = keyOf(event);
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

  /** Waits until there is room for another change; resolves at once when the queue is closed. */
  room(): Promise<void> {
    return this.#until(() => this.#waiting.size < MAX_WAITING || this.#isClosed);
  }

  /** Waits until no change is left, or the queue is closed. */
  empty(): Promise<void> {
    return this.#until(() => this.#waiting.size === 0 || this.#isClosed);
  }

  /** Starts no more handlers. Resolves when those that run have ended, or never will. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#awake();
    return this.#until(() => this.#running.size === 0);
  }

  /** Aborts the handlers that run. */
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

  /** Removes the values of a large change from memory. They are read again when its turn comes. */
  #dropValues(change: WaitingChange): void {
    if (!change.hasValues || sizeOf(change.event) <= MAX_KEPT_BYTES) return;
    change.event = withoutValues(change.event);
    change.hasValues = false;
  }

  #postpone(change: WaitingChange): void {
    if (this.#isClosed) return;
    const { key, attempts } = change;
    this.#dropValues(change);
    const { pauseMS, maxPauseMS } = this.#options.retry;
    const pause = Math.min(maxPauseMS, pauseMS * 2 ** (attempts - 1));
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#ready.push(key);
      this.#start();
    }, pause * (0.75 + Math.random() / 4));
    this.#timers.add(timer);
  }

  /** Resolves with whether a change is handled or kept. */
  async #attempt(change: WaitingChange, controller: AbortController): Promise<boolean> {
    const { timeoutMS, retry, handle, read, bury } = this.#options;
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
      if (this.#isClosed || change.attempts < retry.attempts) return false;
      return await bury(event, { ...attempt, error }).then(() => true, () => false);
    } finally {
      clearTimeout(timer);
    }
  }
}
