import { setTimeout } from "node:timers/promises";
import type { Connection, Model } from "mongoose";
import type { FrameworkModel } from "../declare/model/framework_model.ts";
import {
  decodeAllNames,
  hintAtUnopened,
  isOpen,
  isStandalone,
} from "../schema/mongoose/connections.ts";
import { ChangeQueue, type ChangeQueueOptions, type FailedAttempt } from "./_change_queue.ts";
import { DeadLetters } from "./_dead_letters.ts";
import { Lease, nowOf, type Position } from "./_lease.ts";
import { isHistoryLost, readEvents } from "./_read_events.ts";
import {
  type Attempt,
  type Change,
  type ChangeEvent,
  isChange,
  timeOf,
  toChange,
} from "./change.ts";
import type { LostChanges } from "./follow.ts";

/** How often progress is noted, if there is any. */
const NOTE_MS = 1000;

const PAUSE_MS = 500;

const MAX_PAUSE_MS = 10_000;

export interface FollowLoopOptions<M extends FrameworkModel>
  extends Pick<ChangeQueueOptions, "concurrency" | "timeoutMS" | "retry"> {
  readonly connection: Connection;
  readonly model: Model<unknown>;
  /** The name of the record. */
  readonly name: string;
  readonly leaseMS: number;
  readonly handle: (change: Change<M>) => unknown;
  readonly onLost: (lost: LostChanges) => unknown;
  readonly onError: (error: unknown, change?: Change<M>) => void;
}

/** Waits for the lease, and handles changes while this process has it. */
export class FollowLoop<M extends FrameworkModel> {
  readonly #options: FollowLoopOptions<M>;
  readonly letters: DeadLetters;
  readonly #stopped = new AbortController();
  readonly #ended: Promise<void>;
  #graceMS = 0;
  #isTroubled = false;

  constructor(options: FollowLoopOptions<M>) {
    this.#options = options;
    this.letters = new DeadLetters(options.connection, options.name);
    this.#ended = this.#run();
  }

  /** Gives up the lease as soon as the handlers have ended, after a time at the latest. */
  async stop(timeoutMS: number): Promise<void> {
    this.#graceMS = timeoutMS;
    this.#stopped.abort();
    await this.#ended;
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #run(): Promise<void> {
    const { connection, leaseMS } = this.#options;
    let isClosed = false;
    connection.once("close", () => isClosed = true);
    for (let unopened = 0; !this.#isStopped;) {
      if (!isOpen(connection)) {
        if (++unopened === MAX_PAUSE_MS / PAUSE_MS) hintAtUnopened(connection);
        // A host that closes the connection may want the process to end
        await pause(PAUSE_MS, this.#stopped.signal, { ref: !isClosed });
        continue;
      }
      await this.#holdOnce().catch((error) => this.#tell(error));
      await pause(Math.min(leaseMS / 3, MAX_PAUSE_MS), this.#stopped.signal);
    }
  }

  /** Handles changes until the lease is lost, if no other process has it. */
  async #holdOnce(): Promise<void> {
    const { connection, name, concurrency, timeoutMS, retry } = this.#options;
    decodeAllNames(connection);
    if (isStandalone(connection)) {
      throw new Error(`Cannot follow "${name}": only a replica set tells of changes`);
    }
    const lease = await Lease.claim(connection, this.#options);
    this.#isTroubled = false;
    if (lease === undefined) return;
    const queue = new ChangeQueue({
      ...{ ...lease.start, concurrency, timeoutMS, retry },
      mayStart: () => lease.isHeld,
      handle: (event, attempt) => this.#handle(event, attempt),
      bury: (event, attempt) => this.#bury(event, attempt),
    });
    lease.signal.addEventListener("abort", () => queue.abort(lease.signal.reason));
    const over = new AbortController();
    const ended = AbortSignal.any([lease.signal, this.#stopped.signal]);
    ended.addEventListener("abort", () => void queue.close());
    const noting = this.#note({
      lease,
      queue,
      ended: AbortSignal.any([lease.signal, over.signal]),
    });
    try {
      await this.letters.load();
      await this.#readAll({ lease, queue, ended });
    } finally {
      const quiet = queue.close();
      if (this.#isStopped) await Promise.race([quiet, pause(this.#graceMS, lease.signal)]);
      queue.abort(new Error("The follower has stopped"));
      over.abort();
      await noting;
      if (lease.isHeld) await lease.renew(queue.progress());
      if (lease.isHeld) await lease.release();
    }
  }

  async #handle(event: ChangeEvent, attempt: Attempt): Promise<void> {
    await this.#options.handle(toChange(event, { ...this.#options, attempt }));
    if (attempt.isReplay) await this.letters.remove(event);
    else await this.letters.overtake(event);
  }

  async #bury(event: ChangeEvent, attempt: FailedAttempt): Promise<void> {
    try {
      await this.letters.bury(event, attempt);
    } catch (cause) {
      this.#tell(cause);
      throw cause;
    }
    const { error, ...told } = attempt;
    this.#options.onError(error, toChange(event, { ...this.#options, attempt: told }));
  }

  /** Notes how far the handlers have come, which renews the lease. */
  async #note(session: Session): Promise<void> {
    const { lease, queue, ended } = session;
    const { leaseMS } = this.#options;
    let replaying = this.#replay(session);
    for (let noted = performance.now(); !ended.aborted;) {
      await pause(Math.min(leaseMS / 5, NOTE_MS), ended);
      if (ended.aborted || !queue.hasNews && performance.now() - noted < leaseMS / 3) continue;
      noted = performance.now();
      try {
        if (await lease.renew(queue.progress())) {
          replaying = replaying.then(() => this.#replay(session));
        }
      } catch (error) {
        queue.hasNews = true;
        this.#tell(error);
      }
    }
  }

  /** Adds the changes of dead letters that are to be handled again. */
  async #replay({ queue, ended }: Session): Promise<void> {
    try {
      for await (const event of this.letters.due()) {
        await queue.room();
        if (ended.aborted) return;
        queue.add(event, { isReplay: true });
      }
    } catch (error) {
      this.#tell(error);
    }
  }

  /** Reads changes, from where the last reading has ended. */
  async #readAll(session: Session): Promise<void> {
    const { queue, ended } = session;
    let lost: LostPlace | undefined;
    for (let failures = 0; !ended.aborted;) {
      try {
        if (lost !== undefined) await this.#recover(session, lost);
        lost = undefined;
        const events = readEvents(this.#options.model.collection, {
          position: queue.position,
          signal: ended,
        });
        for await (const { event, position } of events) {
          [failures, this.#isTroubled] = [0, false];
          if (event === undefined) queue.readTo(position);
          else if (event.operationType === "invalidate") {
            lost = { reason: "dropped", position };
            break;
          } else if (!isChange(event)) queue.readTo(position, timeOf(event));
          else {
            await queue.room();
            queue.add(event);
          }
        }
      } catch (error) {
        if (ended.aborted) return;
        if (isHistoryLost(error)) lost = { reason: "history" };
        else {
          this.#tell(error);
          await pause(pauseAfter(failures++), ended);
        }
      }
    }
  }

  /** Tells of lost changes when all before are handled, and goes on behind them. */
  async #recover({ lease, queue, ended }: Session, { reason, position }: LostPlace): Promise<void> {
    const now = new Date();
    const next = position ?? await nowOf(this.#options.connection);
    const { at: since = now } = queue.progress();
    await queue.empty();
    for (let failures = 0; !ended.aborted; failures++) {
      try {
        await this.#options.onLost({ reason, since, signal: lease.signal });
        queue.readTo(next, now);
        return void await lease.renew(queue.progress());
      } catch (error) {
        this.#options.onError(error);
        await pause(pauseAfter(failures), ended);
      }
    }
  }

  /** Tells of a failure of the database; of others only after it has gone well once. */
  #tell(error: unknown): void {
    if (!this.#isTroubled) this.#options.onError(error);
    this.#isTroubled = true;
  }
}

/** A time during which this process has the lease. */
interface Session {
  readonly lease: Lease;
  readonly queue: ChangeQueue;
  readonly ended: AbortSignal;
}

/** Changes that cannot be read; what follows begins at the position, or now. */
interface LostPlace {
  readonly reason: LostChanges["reason"];
  readonly position?: Position;
}

function pauseAfter(failures: number): number {
  return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** failures);
}

/** Waits for a time, or until the signal is aborted. */
async function pause(ms: number, signal: AbortSignal, { ref = true } = {}): Promise<void> {
  await setTimeout(ms, undefined, { signal, ref }).catch(() => {});
}
