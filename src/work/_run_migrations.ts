import type { Connection } from "mongoose";
import { setMaxListeners } from "node:events";
import { errorText } from "../errors/error_text.ts";
import { logHint, logLine } from "../errors/log.ts";
import { isOpen } from "../schema/mongoose/connections.ts";
import { isUnavailable } from "../store/failure_of.ts";
import { Lease } from "../store/lease.ts";
import { pause } from "../store/pause.ts";
import { TimeLimitError } from "../store/time_limit.ts";
import {
  begunFields,
  ENDED,
  keepRenewed,
  LEASE_MS,
  noteUnlessLost,
  releaseQuietly,
  whenOpen,
} from "./_held_lease.ts";
import { makeEach, type WalkProgress } from "./_walk.ts";
import type { Migration } from "./migrate.ts";

const COLLECTION = "mongrove_migrations";

const POLL_MS = 500;

export interface RunMigrationsOptions {
  readonly connection: Connection;
  readonly waitMS: number;
  readonly wait: boolean;
  readonly closing: AbortSignal;
  readonly leaseMS?: number;
}

interface StoredMigration {
  readonly outcome?: "running" | "done" | "failed" | "interrupted";
  readonly process?: string;
  readonly error?: string;
  readonly progress?: Readonly<Record<string, WalkProgress>>;
}

interface MigrationNames {
  readonly pending: readonly string[];
  /** Migrations that a newer release has run, and that are missing in the list of this release. */
  readonly newer: readonly string[];
}

export async function readNames(
  connection: Connection,
  names: readonly string[],
): Promise<MigrationNames> {
  const options = { readPreference: "primary", readConcern: { level: "majority" } } as const;
  const found = await connection.collection(COLLECTION)
    .find({ outcome: "done" }, { ...options, projection: { _id: 1 } })
    .sort({ order: 1 }).toArray();
  const done = found.map(({ _id }) => String(_id));
  const at = done.slice(0, names.length).findIndex((name, index) => names[index] !== name);
  if (at === -1) return { pending: names.slice(done.length), newer: done.slice(names.length) };
  const [before = "", listed] = [done[at], names[at]];
  const problem = names.includes(before)
    ? `"${before}" has run, and the list has "${listed}" before it`
    : `"${before}" has run, and is missing in the list`;
  throw new Error(`Cannot migrate "${connection.name}": ${problem}`);
}

export async function runMigrations(
  migrations: readonly Migration[],
  options: RunMigrationsOptions,
): Promise<string[]> {
  const { connection, waitMS, wait, closing } = options;
  const names = migrations.map(({ name }) => name);
  await openForMigrations(options);
  const ran: string[] = [];
  for (let waitsSince: number | undefined; !closing.aborted;) {
    const { pending: [name], newer } = await pastOutage(
      () => readNames(connection, names),
      options,
    );
    if (newer.length > 0) {
      logHint(`"${connection.name}" has migrations of a newer release: "${newer.join('", "')}"`);
    }
    const order = names.indexOf(name ?? "");
    const migration = migrations[order];
    if (migration === undefined) return ran;
    const claiming = { ...options, order };
    const { lease, record } = await pastOutage(() => claim(migration, claiming), options);
    if (lease !== undefined) {
      const attempt = new Attempt(migration, { ...claiming, lease, record });
      if (await attempt.run({ hasWaited: waitsSince !== undefined })) ran.push(migration.name);
      waitsSince = undefined;
      continue;
    }
    if (!wait) return ran;
    waitsSince ??= performance.now();
    if (performance.now() - waitsSince >= waitMS) {
      const other = record?.process === undefined ? "" : ` in process ${record.process}`;
      throw new Error(`Cannot migrate: "${name}" still runs${other} after ${waitMS} ms`);
    }
    await pause(POLL_MS, closing);
  }
  throw closing.reason;
}

export async function openForMigrations(
  { connection, waitMS, closing }: Pick<RunMigrationsOptions, "connection" | "waitMS" | "closing">,
): Promise<void> {
  await whenOpen(connection, {
    signal: AbortSignal.any([closing, AbortSignal.timeout(waitMS)]),
    ref: true,
  });
  closing.throwIfAborted();
  if (isOpen(connection)) return;
  throw new Error(`Cannot migrate: the connection is not open after ${waitMS} ms`);
}

async function pastOutage<T>(
  work: () => Promise<T>,
  { waitMS, closing }: RunMigrationsOptions,
): Promise<T> {
  for (const since = performance.now();;) {
    try {
      return await work();
    } catch (error) {
      const isOutage = isUnavailable(error) || error instanceof TimeLimitError;
      if (!isOutage || closing.aborted || performance.now() - since >= waitMS) throw error;
      await pause(POLL_MS, closing);
    }
  }
}

interface AttemptOptions extends RunMigrationsOptions {
  readonly order: number;
  readonly lease: Lease;
  readonly record: StoredMigration | undefined;
}

/** The record of a migration is also its lease, so only the holder can store an outcome. */
async function claim(
  { name }: Migration,
  { connection, order, leaseMS = LEASE_MS }: RunMigrationsOptions & { readonly order: number },
): Promise<{ readonly lease?: Lease; readonly record?: StoredMigration }> {
  const records = connection.collection(COLLECTION);
  return await Lease.claim<StoredMigration>({ records, name, leaseMS, first: { order } });
}

class Attempt {
  readonly #migration: Migration;
  readonly #options: AttemptOptions;

  constructor(migration: Migration, options: AttemptOptions) {
    this.#migration = migration;
    this.#options = options;
  }

  /**
   * Returns whether this process has run the migration to its end. If not, another process has run it, or must run it.
   */
  async run({ hasWaited }: { readonly hasWaited: boolean }): Promise<boolean> {
    const { lease, record, leaseMS = LEASE_MS } = this.#options;
    const { name } = this.#migration;
    const over = new AbortController();
    const renewing = keepRenewed(lease, { leaseMS, ended: over.signal });
    try {
      if (record?.outcome === "done") return false;
      if (hasWaited && record?.outcome === "failed") {
        // A new attempt would fail too, because the other process has the same code.
        throw new Error(`Cannot migrate: "${name}" failed in ${record.process}: ${record.error}`);
      }
      return await this.#begin() && await this.#work();
    } finally {
      over.abort();
      await renewing;
      await releaseQuietly(lease);
    }
  }

  async #begin(): Promise<boolean> {
    const { order, lease } = this.#options;
    logLine(`Migration "${this.#migration.name}" runs`);
    return await noteUnlessLost(lease, { order, ...begunFields() });
  }

  async #work(): Promise<boolean> {
    const { connection, lease, record, closing } = this.#options;
    const { name, run } = this.#migration;
    const failed = new AbortController();
    const signal = AbortSignal.any([lease.signal, closing, failed.signal]);
    // Concurrent reads add listeners, and Node warns of more than ten.
    setMaxListeners(0, signal);
    const { progress = {} } = record ?? {};
    const walking = { connection, migration: name, lease, signal, progress };
    const { each, calls } = makeEach(walking);
    const since = performance.now();
    try {
      await run({ connection, each, signal });
      // A call of `each()` may begin when another one ends, so the loop waits until no call is new.
      for (let waited = -1; waited < calls.length;) {
        waited = calls.length;
        await Promise.all(calls);
      }
    } catch (error) {
      failed.abort(error);
      await Promise.allSettled(calls);
      if (!lease.isHeld) return this.#tellOfLoss();
      await this.#noteFailure(error);
      throw closing.aborted ? closing.reason : cannotMigrate(name, error);
    }
    if (!await noteUnlessLost(lease, { outcome: "done", ...ENDED })) return this.#tellOfLoss();
    logLine(`Migration "${name}" has ended after ${Math.round(performance.now() - since)} ms`);
    return true;
  }

  #tellOfLoss(): false {
    logHint(`Migration "${this.#migration.name}": the lease is lost, so another attempt counts`);
    return false;
  }

  /** Removes the progress after an error in the code of the migration, because the repaired code must begin anew. */
  async #noteFailure(error: unknown): Promise<void> {
    const { lease, closing } = this.#options;
    const isCut = closing.aborted || isUnavailable(error);
    await noteUnlessLost(lease, {
      ...ENDED,
      outcome: closing.aborted ? "interrupted" : "failed",
      error: { $literal: errorText(error) },
      ...isCut ? {} : { progress: "$$REMOVE" },
    });
  }
}

function cannotMigrate(name: string, cause: unknown): Error {
  return new Error(`Cannot migrate: "${name}" failed: ${errorText(cause)}`, { cause });
}
