import type { Connection, Model } from "mongoose";
import type { FrameworkModel } from "../declare/model/framework_model.ts";
import {
  decodeAllNames,
  hintAtUnopened,
  isOpen,
  isStandalone,
} from "../schema/mongoose/connections.ts";
import type { Lease } from "../store/lease.ts";
import { logHint } from "../errors/log.ts";
import { pause } from "../store/pause.ts";
import { withTimeLimit } from "../store/time_limit.ts";
import {
  ChangeQueue,
  type ChangeQueueOptions,
  type FailedAttempt,
  type ReadContext,
} from "./_change_queue.ts";
import { DeadLetters } from "./_dead_letters.ts";
import {
  type Checkpoint,
  checkpointOf,
  claimFollow,
  nowOf,
  type Position,
  releaseFollow,
  renewFollow,
  storeProgress,
} from "./_lease.ts";
import { type ReadEvent, readEvents, reasonOfLoss } from "./_read_events.ts";
import { ReadTurns } from "./_read_turns.ts";
import {
  type Attempt,
  type Change,
  type ChangeEvent,
  isChange,
  timeOf,
  toChange,
} from "./change.ts";
import type { LostChanges } from "./follow.ts";
import { MAX_PAUSE_MS, PAUSE_MS, pauseAfter, unlessAborted } from "./_waits.ts";

/** The progress is stored at this interval. If the process is killed, later changes are handled again. */
const NOTE_MS = 1000;

/** A database that does not answer must not keep a follower from stopping. */
const END_MS = 5000;

export interface FollowLoopOptions<M extends FrameworkModel>
  extends Pick<ChangeQueueOptions, "concurrency" | "timeoutMS" | "attempts" | "pauses"> {
  readonly connection: Connection;
  readonly model: Model<unknown>;
  /** The collection and the follower, as in `tickets/search`. */
  readonly name: string;
  readonly leaseMS: number;
  readonly handle: (change: Change<M>) => unknown;
  readonly onLost: (lost: LostChanges) => unknown;
  readonly onError: (error: unknown, change?: Change<M>) => void;
}

export class FollowLoop<M extends FrameworkModel> {
  readonly #options: FollowLoopOptions<M>;
  readonly letters: DeadLetters;
  readonly #stopped = new AbortController();
  readonly #ended: Promise<void>;
  #graceMS = 0;
  #isTroubled = false;
  #checkpoint: Checkpoint | undefined;

  constructor(options: FollowLoopOptions<M>) {
    this.#options = options;
    this.letters = new DeadLetters(options.connection, options.name);
    this.#ended = this.#run();
  }

  async stop(timeoutMS: number): Promise<void> {
    this.#graceMS = timeoutMS;
    this.#stopped.abort();
    const limit = {
      ms: timeoutMS + END_MS,
      message: `Cannot end the lease of "${this.#options.name}"`,
    };
    await withTimeLimit(() => this.#ended, limit).catch((error) => this.#reportError(error));
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #run(): Promise<void> {
    const { connection, leaseMS } = this.#options;
    let isClosed = false;
    const onClose = () => void (isClosed = true);
    connection.once("close", onClose);
    for (let unopened = 0; !this.#isStopped;) {
      if (!isOpen(connection)) {
        if (++unopened === MAX_PAUSE_MS / PAUSE_MS) hintAtUnopened(connection);
        // A timer with `ref` would keep the process alive after the application has closed the connection.
        await pause(PAUSE_MS, this.#stopped.signal, { ref: !isClosed });
        continue;
      }
      await this.#holdOnce().catch((error) => this.#reportError(error));
      await pause(Math.min(leaseMS / 3, MAX_PAUSE_MS), this.#stopped.signal);
    }
    connection.off("close", onClose);
  }

  async #holdOnce(): Promise<void> {
    const { connection, name } = this.#options;
    decodeAllNames(connection);
    if (isStandalone(connection)) {
      throw new Error(`Cannot follow "${name}": only a replica set tells of changes`);
    }
    const { lease, checkpoint } = await claimFollow(connection, {
      ...this.#options,
      checkpoint: this.#checkpoint,
    });
    this.#isTroubled = false;
    this.#checkpoint = checkpoint;
    if (lease === undefined || checkpoint === undefined) return;
    const queue = this.#makeQueue(lease, checkpoint);
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
      await this.#end({ lease, queue, over, noting });
    }
  }

  #makeQueue(lease: Lease, checkpoint: Checkpoint): ChangeQueue {
    const { concurrency, timeoutMS, attempts, pauses } = this.#options;
    return new ChangeQueue({
      ...checkpoint,
      concurrency,
      timeoutMS,
      attempts,
      pauses,
      mayStart: () => lease.isHeld,
      handle: (event, attempt) => this.#handle(event, attempt),
      read: (event, context) => this.#readAgain(event, context),
      bury: (event, attempt) => this.#bury(event, attempt),
    });
  }

  /** Releases the lease, so that another process need not wait for its end. */
  async #end(
    { lease, queue, over, noting }: Pick<Session, "lease" | "queue"> & {
      readonly over: AbortController;
      readonly noting: Promise<void>;
    },
  ): Promise<void> {
    const quiet = queue.close();
    if (this.#isStopped) await Promise.race([quiet, pause(this.#graceMS, lease.signal)]);
    queue.abort(new Error("The follower has stopped"));
    over.abort();
    const progress = queue.progress();
    this.#checkpoint = checkpointOf(progress);
    const end = async () => {
      await noting;
      if (lease.isHeld) await releaseFollow(lease, progress);
    };
    const limit = { ms: END_MS, message: `Cannot end the lease of "${this.#options.name}"` };
    await withTimeLimit(end, limit).finally(() => lease.lose());
  }

  #events(position: Position, signal: AbortSignal): AsyncIterable<ReadEvent> {
    const { connection, model } = this.#options;
    return readEvents(model.collection, { position, signal, turns: ReadTurns.of(connection) });
  }

  /** If the database no longer has the values, the handler gets the current entity. */
  async #readAgain(event: ChangeEvent, { position, signal }: ReadContext): Promise<ChangeEvent> {
    if (position === undefined) return await this.letters.find(event) ?? event;
    try {
      for await (const { event: found } of this.#events(position, signal)) {
        if (found !== undefined) return found._id._data === event._id._data ? found : event;
      }
    } catch (error) {
      if (reasonOfLoss(error) === undefined) throw error;
    }
    return event;
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
      this.#reportError(cause);
      throw cause;
    }
    const { error, ...others } = attempt;
    this.#options.onError(error, toChange(event, { ...this.#options, attempt: others }));
  }

  /** Stores the progress at intervals, which also renews the lease. */
  async #note(session: Session): Promise<void> {
    const { lease, queue, ended } = session;
    const { leaseMS } = this.#options;
    let replaying = this.#replay(session);
    for (let noted = performance.now(); !ended.aborted;) {
      await pause(Math.min(leaseMS / 5, NOTE_MS), ended);
      if (ended.aborted || !queue.hasNews && performance.now() - noted < leaseMS / 3) continue;
      noted = performance.now();
      try {
        if (await renewFollow(lease, queue.progress())) {
          replaying = replaying.then(() => this.#replay(session));
        }
      } catch (error) {
        queue.hasNews = true;
        this.#reportError(error);
      }
    }
  }

  async #replay({ queue, ended }: Session): Promise<void> {
    for (let failures = 0; !ended.aborted; failures++) {
      try {
        for await (const event of this.letters.due()) {
          await queue.room();
          if (ended.aborted) return;
          queue.add(event, { isReplay: true });
        }
        return;
      } catch (error) {
        this.#reportError(error);
        await pause(pauseAfter(failures), ended);
      }
    }
  }

  async #readAll(session: Session): Promise<void> {
    const { queue, ended } = session;
    let lost: LostStream | undefined;
    for (let failures = 0; !ended.aborted;) {
      try {
        if (lost !== undefined) await this.#recover(session, lost);
        lost = undefined;
        for await (const { event, position } of this.#events(queue.position, ended)) {
          [failures, this.#isTroubled] = [0, false];
          if (event === undefined) queue.readTo(position);
          else if (event.operationType === "invalidate") {
            lost = { reason: "dropped", next: { position, at: timeOf(event) } };
            break;
          } else if (!isChange(event)) queue.readTo(position, timeOf(event));
          else {
            if (event.missing !== undefined) this.#hintAt(event);
            await queue.room();
            queue.add(event);
          }
        }
      } catch (error) {
        if (ended.aborted) return;
        const reason = reasonOfLoss(error);
        if (reason !== undefined) lost = { reason };
        else {
          this.#reportError(error);
          await pause(pauseAfter(failures++), ended);
        }
      }
    }
  }

  /** A stopped follower waits for `onLost` only as long as for a handler, so that it ends. */
  async #recover({ lease, queue, ended }: Session, { reason, ...lost }: LostStream): Promise<void> {
    const { position, at } = lost.next ?? await nowOf(this.#options.connection);
    const since = queue.readAt;
    await queue.empty();
    const over = this.#graceOver(lease);
    for (let failures = 0; !ended.aborted; failures++) {
      try {
        const result = this.#options.onLost({ reason, since, signal: lease.signal });
        const isSettled = Promise.resolve(result).then(() => true);
        if (!await Promise.race([isSettled, over])) return;
        queue.readTo(position, at);
        return await storeProgress(lease, queue.progress());
      } catch (error) {
        this.#options.onError(error);
        await pause(pauseAfter(failures), ended);
      }
    }
  }

  async #graceOver(lease: Lease): Promise<false> {
    await unlessAborted(this.#stopped.signal, new Promise(() => {})).catch(() => {});
    await pause(this.#graceMS, lease.signal);
    return false;
  }

  #hintAt({ _id: { _data: id }, missing = [] }: ChangeEvent): void {
    logHint(
      `"${this.#options.name}" gets a change without ${missing.join(" and ")}, because its event ` +
        `has more than 16 MB: ${id.slice(0, 500)}`,
    );
  }

  /** Only the first failure of an outage is reported, because each attempt fails. */
  #reportError(error: unknown): void {
    if (!this.#isTroubled) this.#options.onError(error);
    this.#isTroubled = true;
  }
}

interface Session {
  readonly lease: Lease;
  readonly queue: ChangeQueue;
  readonly ended: AbortSignal;
}

/** After a loss, reading continues at `next`, or else at the current time of the database. */
interface LostStream {
  readonly reason: LostChanges["reason"];
  readonly next?: Checkpoint;
}
