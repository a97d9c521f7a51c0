import type { Connection } from "mongoose";
import { errorText } from "../errors/error_text.ts";
import { logError, logHint } from "../errors/log.ts";
import { isOpen } from "../schema/mongoose/connections.ts";
import { Lease } from "../store/lease.ts";
import { pause } from "../store/pause.ts";
import {
  begunFields,
  ENDED,
  keepRenewed,
  LEASE_MS,
  noteUnlessLost,
  releaseQuietly,
  whenOpen,
} from "./_held_lease.ts";
import type { EveryOptions, RunContext } from "./every.ts";

const COLLECTION = "mongrove_runs";

/** The record is read again at least this often, because another process may have changed it. */
const LOOK_MS = 60_000;

const AGAIN_MS = 5000;

export interface RepeatLoopOptions extends Pick<EveryOptions, "onError"> {
  readonly connection: Connection;
  readonly name: string;
  readonly intervalMS: number;
  readonly run: (context: RunContext) => unknown;
  readonly leaseMS?: number;
}

interface StoredRun {
  readonly until: Date;
  /** The time at which the last ended run was due. */
  readonly dueAt?: Date;
  readonly outcome?: "running" | "done" | "failed" | "interrupted";
}

export class RepeatLoop {
  readonly #options: RepeatLoopOptions;
  readonly #leaseMS: number;
  readonly #stopped = new AbortController();
  readonly #ended: Promise<void>;
  #isTroubled = false;

  constructor(options: RepeatLoopOptions) {
    this.#options = options;
    this.#leaseMS = options.leaseMS ?? LEASE_MS;
    this.#ended = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new Error(`"${this.#options.name}" is stopped`));
    await this.#ended;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopped;
    // The open connection keeps the process alive, so the timers need not.
    const ref = false;
    for (let restMS = 0; !signal.aborted;) {
      await pause(restMS, signal, { ref });
      await whenOpen(this.#options.connection, { signal, ref });
      if (signal.aborted) return;
      try {
        restMS = await this.#runIfDue();
        this.#isTroubled = false;
      } catch (error) {
        restMS = AGAIN_MS;
        if (isOpen(this.#options.connection) && !this.#isTroubled) this.#report(error);
        this.#isTroubled = true;
      }
    }
  }

  async #runIfDue(): Promise<number> {
    const { connection, name, intervalMS } = this.#options;
    const records = connection.collection(COLLECTION);
    const restMS = await this.#restMS();
    if (restMS > 0) return Math.min(restMS, LOOK_MS);
    const claim = { records, name, leaseMS: this.#leaseMS };
    const { lease, record } = await Lease.claim<StoredRun>(claim);
    if (lease === undefined || record === undefined) {
      return Math.min(intervalMS, this.#leaseMS / 3);
    }
    const over = new AbortController();
    const renewing = keepRenewed(lease, { leaseMS: this.#leaseMS, ended: over.signal });
    try {
      // The time of the database, which has set `until` to this time plus `leaseMS`.
      const now = record.until.getTime() - this.#leaseMS;
      const last = record.dueAt?.getTime();
      const dueAt = last === undefined || last > now + LOOK_MS ? now : last + intervalMS;
      if (dueAt <= now) await this.#runOnce(lease, { record, dueAt, now });
    } finally {
      over.abort();
      await renewing;
      await releaseQuietly(lease);
    }
    return 0;
  }

  async #restMS(): Promise<number> {
    const { connection, name, intervalMS } = this.#options;
    const rest = { $subtract: [{ $add: ["$dueAt", intervalMS] }, "$$NOW"] };
    const options = { projection: { rest }, readPreference: "primary" } as const;
    const found = await connection.collection(COLLECTION).findOne({ _id: name } as object, options);
    const restMS = Number(found?.rest ?? 0);
    // Such a long rest means that the clock of the database was set back. Otherwise, no run would begin before the
    // clock has caught up.
    return restMS > intervalMS + LOOK_MS ? 0 : restMS;
  }

  async #runOnce(
    lease: Lease,
    { record, dueAt, now }: {
      readonly record: StoredRun;
      readonly dueAt: number;
      readonly now: number;
    },
  ): Promise<void> {
    const { connection, name, intervalMS, run } = this.#options;
    const missed = Math.floor((now - dueAt) / intervalMS);
    if (record.outcome === "running") logHint(`"${name}": the last run was cut, and is repeated`);
    if (missed > 0) logHint(`"${name}" has missed ${missed} runs, for which one run follows`);
    if (!await noteUnlessLost(lease, { missed, ...begunFields() })) return;
    const counted = { ...ENDED, dueAt: new Date(dueAt + missed * intervalMS) };
    const signal = AbortSignal.any([lease.signal, this.#stopped.signal]);
    let outcome: object = { ...counted, outcome: "done" };
    try {
      await run({ connection, missed, signal });
    } catch (error) {
      const failure = { error: { $literal: errorText(error) } };
      const isStopped = this.#stopped.signal.aborted;
      outcome = isStopped
        ? { ...ENDED, ...failure, outcome: "interrupted" }
        : { ...counted, ...failure, outcome: "failed" };
      if (!isStopped) this.#report(error);
    }
    if (await noteUnlessLost(lease, outcome)) return;
    this.#report(new Error(`"${name}": the lease is lost, so another process may repeat the run`));
  }

  #report(error: unknown): void {
    const { name, onError } = this.#options;
    const log = (thrown: unknown) => logError(thrown, { every: name });
    if (onError === undefined) log(error);
    else Promise.resolve().then(() => onError(error)).catch(log);
  }
}
