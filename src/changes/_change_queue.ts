import { clearTimeout, setTimeout } from "node:timers";
import type { Position, Progress } from "./_lease.ts";
import { type Attempt, type ChangeEvent, keyOf, sizeOf, timeOf, withoutValues } from "./change.ts";
import { unlessAborted } from "./_waits.ts";

/**
 * The maximum number of changes that a follower has read and not handled. At this number, the follower stops reading,
 * so that slow handlers do not fill the memory.
 */
const MAX_WAITING = 1000;

/**
 * The maximum size in bytes of a change that keeps its values in memory while it waits for its handler. The 1,000
 * changes that can wait together take at most about 64 MB of memory.
 */
const MAX_KEPT_BYTES = 65_536;

export interface RetryLimits {
  readonly attempts: number;
  readonly pauseMS: number;
  readonly maxPauseMS: number;
}

export interface ChangeQueueOptions {
  /**
   * The position in the change stream up to which all changes are handled, and after which the follower begins to read.
   */
  readonly position: Position;
  readonly at: Date;
  readonly concurrency: number;
  readonly timeoutMS: number;
  readonly retry: RetryLimits;
  /** Whether this process still has the lease, which allows only one process at a time to handle changes. */
  readonly mayStart: () => boolean;
  readonly handle: (event: ChangeEvent, attempt: Attempt) => Promise<void>;
  /**
   * Reads the values of a change of more than 64 KB again, from the change stream or from its dead letter. Memory does
   * not hold these values while the change waits for its handler.
   */
  readonly read: (event: ChangeEvent, place: ChangePlace) => Promise<ChangeEvent>;
  /**
   * Stores a change as a dead letter after its handler has failed in all attempts. If the change cannot be stored, the
   * handler is called again, so that no change is lost.
   */
  readonly bury: (event: ChangeEvent, attempt: FailedAttempt) => Promise<void>;
}

/** The last failed call of the handler for a change, with the error that the dead letter of the change shows. */
export interface FailedAttempt extends Attempt {
  readonly error: unknown;
}

/**
 * The position in the change stream from which the values of a change can be read again. Memory does not hold the
 * values of large changes while they wait for their handler.
 */
export interface ChangePlace {
  /**
   * The position in the change stream after which the change is the first event. Absent for a change that comes from a
   * dead letter, because its values are read from the letter.
   */
  readonly position: Position | undefined;
  readonly signal: AbortSignal;
}

/** A change that a follower has read and that waits for its handler, or is being handled. */
interface WaitingChange extends Pick<ChangePlace, "position"> {
  event: ChangeEvent;
  readonly key: string;
  /**
   * Whether memory holds the values of the change. If not, the follower reads them again before it calls the handler.
   */
  hasValues: boolean;
  attempts: number;
}

/**
 * A queue of the changes that a follower has read and not handled. The queue calls the handler for changes of one
 * entity in order, and for changes of different entities at the same time. If the handler fails, it is called again
 * after a pause, during which only the changes of the same entity wait.
 */
export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  /**
   * The changes that are not handled yet, in the order in which they were read. The follower must not store a position
   * after the first of these changes as its progress, because this change would be lost if the process ended.
   */
  readonly #waiting = new Set<WaitingChange>();
  readonly #lanes = new Map<string, WaitingChange[]>();
  #ready: string[] = [];
  readonly #running = new Set<AbortController>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;
  #wake: (() => void)[] = [];
  #read: { position: Position; at: Date; caughtUp: number | undefined };
  /**
   * Whether the follower has handled or read more changes since the last call of `progress()`, so that it must store
   * its new position in the change stream.
   */
  hasNews = false;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
    this.#read = { position: options.position, at: options.at, caughtUp: undefined };
  }

  /**
   * The position of the last event that was read from the change stream. After an error, the follower opens another
   * change stream after this position.
   */
  get position(): Position {
    return this.#read.position;
  }

  /** The time of the last event that was read, by the clock of the database. */
  get readAt(): Date {
    return this.#read.at;
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
   * Records that the follower has read all events up to a position of the change stream, so that the follower can store
   * this position as its progress. `at` is the time of the last event, and is absent if the stream has no more events
   * at present.
   */
  readTo(position: Position, at?: Date): void {
    const caughtUp = at === undefined ? performance.now() : undefined;
    if (this.#read.caughtUp === undefined) this.hasNews = true;
    this.#read = { position, at: at ?? this.#read.at, caughtUp };
  }

  /**
   * Adds a change that the handler must get. With `isReplay`, the change comes from a dead letter, and is not added if
   * it already waits for the handler. Without `isReplay`, the change is the next one of the change stream.
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
   * Waits until fewer than 1,000 changes wait for the handler, so that one more can be added. Resolves at once if the
   * queue is closed, so that the follower can stop reading.
   */
  room(): Promise<void> {
    return this.#until(() => this.#waiting.size < MAX_WAITING || this.#isClosed);
  }

  /**
   * Waits until the handler has got all changes that the follower has read, because `onLost` must be called after these
   * changes. Resolves early if the queue is closed.
   */
  empty(): Promise<void> {
    return this.#until(() => this.#waiting.size === 0 || this.#isClosed);
  }

  /**
   * Ends the handling of changes, because the follower stops or has lost its lease. No more handlers start, and the
   * promise resolves when the running handlers have ended or are aborted.
   */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#awake();
    return this.#until(() => this.#running.size === 0);
  }

  /**
   * Aborts the running handlers, because the lease is lost or the time for stopping is over. No more handlers start.
   * The method does not wait for the end of the running handlers.
   */
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
   * Removes the values of a change of more than 64 KB from memory while the change waits for its handler. The values
   * are read again before the handler is called.
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
   * Calls the handler once for a change. Resolves to `true` if the change is handled or stored as a dead letter, and to
   * `false` if the handler must be called again.
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
