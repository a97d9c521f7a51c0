import { clearTimeout, setTimeout } from "node:timers";
import type { Position, Progress } from "./_lease.ts";
import { type Attempt, type ChangeEvent, keyOf, sizeOf, timeOf, withoutValues } from "./change.ts";
import { unlessAborted } from "./_waits.ts";

/**
 * The maximum number of changes in the queue. A full queue stops the reading of further changes, so that slow handlers
 * do not fill the memory.
 */
const MAX_WAITING = 1000;

/**
 * The maximum size of a change that keeps its values while it waits. All waiting changes together take at most about 64
 * MB of memory.
 */
const MAX_KEPT_BYTES = 65_536;

export interface RetryLimits {
  readonly attempts: number;
  readonly pauseMS: number;
  readonly maxPauseMS: number;
}

export interface ChangeQueueOptions {
  /** The position in the change stream after which reading begins. */
  readonly position: Position;
  readonly at: Date;
  readonly concurrency: number;
  readonly timeoutMS: number;
  readonly retry: RetryLimits;
  /** Whether this process still has the lease, which allows only one process at a time to handle changes. */
  readonly mayStart: () => boolean;
  readonly handle: (event: ChangeEvent, attempt: Attempt) => Promise<void>;
  /**
   * Reads the values of a change again from the database. The queue drops the values of large changes while they wait,
   * because they would fill the memory.
   */
  readonly read: (event: ChangeEvent, place: ChangePlace) => Promise<ChangeEvent>;
  /**
   * Stores a change that failed in all attempts as a dead letter. If the change cannot be stored, the handler is called
   * again, so that no change is lost.
   */
  readonly bury: (event: ChangeEvent, attempt: FailedAttempt) => Promise<void>;
}

/** The last attempt to handle a change, with the error that the dead letter shows. */
export interface FailedAttempt extends Attempt {
  readonly error: unknown;
}

/**
 * The position in the change stream from which a change can be read again, because large changes that wait lose their
 * values.
 */
export interface ChangePlace {
  /** The position before the change. Absent for a change of a dead letter, whose event is read from the letter. */
  readonly position: Position | undefined;
  readonly signal: AbortSignal;
}

/** A change in the queue that is not handled yet. */
interface WaitingChange extends Pick<ChangePlace, "position"> {
  event: ChangeEvent;
  readonly key: string;
  /** Whether the event still has its values. If not, they are read again before the change is handled. */
  hasValues: boolean;
  attempts: number;
}

/**
 * Calls the handler for changes. Changes of one entity are handled in order, and changes of different entities at the
 * same time. A change that fails is tried again after a pause, during which only the changes of its entity wait.
 */
export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  /**
   * The changes that are not handled yet, in the order in which they were read. The stored progress must not go beyond
   * the first of them, because this change would be lost if the process ended.
   */
  readonly #waiting = new Set<WaitingChange>();
  readonly #lanes = new Map<string, WaitingChange[]>();
  #ready: string[] = [];
  readonly #running = new Set<AbortController>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;
  #wake: (() => void)[] = [];
  #read: { position: Position; at: Date; caughtUp: number | undefined };
  /** Whether the progress has changed since `progress()` was last called, so that the new progress must be stored. */
  hasNews = false;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
    this.#read = { position: options.position, at: options.at, caughtUp: undefined };
  }

  /** The position in the change stream after which reading continues after an error. */
  get position(): Position {
    return this.#read.position;
  }

  /**
   * Returns the position in the change stream up to which all changes are handled. If this process ends, another
   * process continues at the stored position.
   */
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

  /**
   * Records that all events up to a position of the change stream were read. `at` is the time of the last event.
   * Without `at`, the stream has no more events at present.
   */
  readTo(position: Position, at?: Date): void {
    const caughtUp = at === undefined ? performance.now() : undefined;
    if (this.#read.caughtUp === undefined) this.hasNews = true;
    this.#read = { position, at: at ?? this.#read.at, caughtUp };
  }

  /**
   * Adds a change. With `isReplay`, the change comes from a dead letter, and is not added if the queue has the change
   * already. Without `isReplay`, the change is the next one of the stream.
   */
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

  /**
   * Waits until the queue has room for another change. Resolves at once if the queue is closed, so that the reader can
   * end.
   */
  room(): Promise<void> {
    return this.#until(() => this.#waiting.size < MAX_WAITING || this.#isClosed);
  }

  /** Waits until all changes of the queue are handled, or the queue is closed. */
  empty(): Promise<void> {
    return this.#until(() => this.#waiting.size === 0 || this.#isClosed);
  }

  /** Closes the queue, so that no more handlers start. Resolves when the running handlers have ended or are aborted. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#awake();
    return this.#until(() => this.#running.size === 0);
  }

  /** Closes the queue and aborts the running handlers, without waiting for their end. */
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

  /**
   * Removes the values of a large change from memory while the change waits. The queue reads the values again before
   * the change is handled.
   */
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

  /**
   * Resolves to `true` if the change is handled or stored as a dead letter, and to `false` if the change must be tried
   * again.
   */
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
