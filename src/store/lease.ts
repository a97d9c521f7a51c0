import { clearTimeout, setTimeout } from "node:timers";
import mongoose from "mongoose";
import type { Collection, Connection } from "mongoose";
import { withTimeLimit } from "./time_limit.ts";

/** @internal */
export interface ConnectionOption {
  /**
   * The connection whose database has the followed or migrated collections, and the records of the progress.
   *
   * @default {mongoose.connection}
   */
  readonly connection?: Connection | undefined;
}

export interface LeaseOptions {
  readonly records: Collection;
  /** The `_id` of the record. Processes with the same name exclude each other. */
  readonly name: string;
  readonly leaseMS: number;
}

interface ClaimOptions extends LeaseOptions {
  readonly first?: object;
}

interface Claimed<R> {
  /** Missing if another process has the lease. */
  readonly lease?: Lease;
  readonly record?: R;
}

/** If a lease ends this much too late, the database's clock was set back, so the lease counts as ended. */
const CLOCK_MS = 5 * 60_000;

/** Ends by the database's clock after `leaseMS` unless renewed, so that another process continues after a crash. */
export class Lease {
  readonly #records: Collection;
  readonly #name: string;
  readonly #filter: object;
  readonly #leaseMS: number;
  readonly #lost = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #validUntil = 0;

  private constructor(
    { records, name, leaseMS }: LeaseOptions,
    { holder, since }: { readonly holder: object; readonly since: number },
  ) {
    this.#records = records;
    this.#name = name;
    this.#filter = { _id: name, holder };
    this.#leaseMS = leaseMS;
    this.#extend(since);
  }

  static async claim<R>({ first = {}, ...options }: ClaimOptions): Promise<Claimed<R>> {
    const { records, name: _id, leaseMS } = options;
    const [holder, since] = [new mongoose.Types.ObjectId(), performance.now()];
    const number = { $add: [{ $ifNull: ["$number", 0] }, 1] };
    const claim = { holder, number, until: { $add: ["$$NOW", leaseMS] } };
    const claimed = { $mergeObjects: [first, "$$ROOT", claim] };
    const ahead = { $gt: ["$until", { $add: ["$$NOW", leaseMS + CLOCK_MS] }] };
    const isFree = { $or: [{ $lte: ["$until", "$$NOW"] }, ahead] };
    const update = [{ $replaceWith: { $cond: [isFree, claimed, "$$ROOT"] } }];
    const claiming = (signal: AbortSignal) => {
      const options = { ...MAJORITY, upsert: true, returnDocument: "after", signal } as const;
      return records.findOneAndUpdate({ _id } as object, update as never, options)
        .catch(noneIfDuplicate);
    };
    const limit = { ms: leaseMS, message: `Cannot claim the lease of "${_id}"` };
    const record = await withTimeLimit(claiming, limit);
    if (record === null) return {};
    const claimedRecord = { record: record as R };
    if (String(record.holder) !== String(holder)) return claimedRecord;
    return { ...claimedRecord, lease: new Lease(options, { holder, since }) };
  }

  /** Aborted when another process may have the lease. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** The clock is checked too, because the timer that aborts `signal` may be late. */
  get isHeld(): boolean {
    return !this.signal.aborted && performance.now() < this.#validUntil;
  }

  /** Returns the previous record, or `null` if another process has taken the lease. */
  async renew(fields: object = {}): Promise<Readonly<Record<string, unknown>> | null> {
    const since = performance.now();
    const until = { $add: ["$$NOW", this.#leaseMS] };
    const found = await this.#note("renew", { ...fields, until });
    if (found === null) this.lose();
    else this.#extend(since);
    return found;
  }

  async release(fields: object = {}): Promise<void> {
    this.lose();
    await this.#note("release", { ...fields, until: "$$NOW" });
  }

  lose(): void {
    clearTimeout(this.#timer);
    this.#lost.abort(new Error("The lease is lost"));
  }

  /** The lease ends after `leaseMS`, so the statement may take no longer. */
  #note(action: string, fields: object): Promise<Record<string, unknown> | null> {
    const message = `Cannot ${action} the lease of "${this.#name}"`;
    const change = (signal: AbortSignal) => {
      const options = { ...MAJORITY, returnDocument: "before", signal } as const;
      return this.#records.findOneAndUpdate(this.#filter, [{ $set: fields }] as never, options);
    };
    return withTimeLimit(change, { ms: this.#leaseMS, message });
  }

  #extend(since: number): void {
    if (this.signal.aborted) return;
    this.#validUntil = since + this.#leaseMS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.lose(), this.#validUntil - performance.now());
  }
}

/** If two processes create the record at once, MongoDB refuses one of them. */
function noneIfDuplicate(error: unknown): null {
  if ((error as { readonly code?: unknown } | undefined)?.code === 11000) return null;
  throw error;
}

/**
 * A failover cannot undo a write with this concern, and a replaced primary cannot confirm one, so two processes never
 * have the lease.
 */
const MAJORITY = { writeConcern: { w: "majority" } } as const;
