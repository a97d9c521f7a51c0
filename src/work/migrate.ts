import mongoose from "mongoose";
import type { Connection } from "mongoose";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { completeLimits } from "../errors/complete_limits.ts";
import { isGroup, wrongOption } from "../errors/option_kinds.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import { delayReadiness } from "../host/readiness.ts";
import { endAtClose } from "../http/close_server.ts";
import { checkConnection } from "../schema/mongoose/connections.ts";
import type { ConnectionOption } from "../store/lease.ts";
import {
  openForMigrations,
  readNames,
  runMigrations,
  type RunMigrationsOptions,
} from "./_run_migrations.ts";
import type { Each } from "./each.ts";

/** A change of stored data, which runs once for each database. */
export interface Migration {
  /** The name. If a migration that has run is renamed or moved in the list, `migrate()` rejects. */
  readonly name: string;
  /**
   * Changes the data. It runs again after a crash or failure, and may run beside a process whose lease has ended, so it
   * must be repeatable.
   */
  readonly run: (context: MigrationContext) => MaybePromise<unknown>;
}

/** The argument of the function of a {@linkcode Migration}. */
export interface MigrationContext {
  /** The connection whose database is migrated. */
  readonly connection: Connection;
  /** Changes each entity of a collection. */
  readonly each: Each;
  /** Is aborted by `Framework.close()`, or when another process may have the lease. */
  readonly signal: AbortSignal;
}

/** Options of {@linkcode migrate}. */
export interface MigrateOptions extends ConnectionOption {
  /**
   * The maximum time to wait for the connection and for another process, in milliseconds.
   *
   * @default {600000}
   */
  readonly waitMS?: number | undefined;
  /**
   * With `false`, the promise resolves at once while another process migrates, although migrations are pending.
   *
   * @default {true}
   */
  readonly wait?: boolean | undefined;
}

/** The type of {@linkcode migrate}. */
export interface Migrate {
  /** Runs the migrations that have not run, and returns the names of the ones that this process has run. */
  (migrations: readonly Migration[], options?: MigrateOptions): Promise<string[]>;
  /** Returns the names of the migrations that would run. It throws as `migrate()` does, and writes nothing. */
  readonly check: (
    migrations: readonly Migration[],
    options?: Pick<MigrateOptions, "connection">,
  ) => Promise<string[]>;
}

/**
 * Runs, in order, the migrations that have no record of success in the collection `mongrove_migrations` of the
 * database. One process at a time runs them, under a lease that ends 30 seconds after a crash. Until the migrations
 * have ended, the others wait, and `Framework.health()` is not ready.
 *
 * The promise rejects if the list or an option is wrong, if a migration fails, if the list lacks a migration that has
 * run or has it at another place, or if the wait is too long. A list that ends before the last migrations that have run
 * belongs to an older release, which may run beside the newer one. Use one list for each database.
 *
 * @example Rename a field
 * ```ts ignore
 * import { migrate } from "@mongrove/mongrove/work";
 * import { Ticket } from "./ticket.ts";
 *
 * await migrate([{
 *   name: "2026-03 title becomes subject",
 *   run: ({ each }) =>
 *     each(Ticket, { title: { $exists: true } }, ({ title }) => ({ subject: title, title: undefined })),
 * }]);
 * ```
 */
export const migrate: Migrate = Object.assign(runAll, { check });

const WAIT_MS = 600_000;

async function runAll(
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  const complete = completeOptions(options);
  checkMigrations(migrations);
  const closing = new AbortController();
  const run = runMigrations(migrations, { ...complete, closing: closing.signal });
  const { name } = complete.connection;
  const stopDelay = delayReadiness(() => `The migrations of "${name}" have not ended`);
  const stopEnding = endAtClose(async () => {
    closing.abort(new Error("Cannot migrate: the process closes"));
    await run.catch(() => {});
  });
  try {
    return await run;
  } finally {
    stopEnding();
    stopDelay();
  }
}

async function check(
  migrations: readonly Migration[],
  options: Pick<MigrateOptions, "connection"> = {},
): Promise<string[]> {
  const { connection, waitMS } = completeOptions(options);
  checkMigrations(migrations);
  await openForMigrations({ connection, waitMS, closing: new AbortController().signal });
  const { pending } = await readNames(connection, migrations.map(({ name }) => name));
  return [...pending];
}

function completeOptions(
  { connection = mongoose.connection, waitMS, wait, ...others }: MigrateOptions,
): Pick<RunMigrationsOptions, "connection" | "waitMS" | "wait"> {
  const unknown = unknownOption(others, OPTIONS);
  const wrong = unknown === undefined
    ? wrongOption({ wait }, { wait: "boolean" })
    : `there is no option ${unknown}`;
  if (wrong !== undefined) throw new TypeError(`Cannot migrate: ${wrong}`);
  checkConnection(connection);
  const limits = completeLimits({ waitMS }, { defaults: { waitMS: WAIT_MS }, what: "migrations" });
  return { connection, ...limits, wait: wait ?? true };
}

const OPTIONS: Readonly<Record<keyof MigrateOptions, true>> = {
  connection: true,
  waitMS: true,
  wait: true,
};

function checkMigrations(migrations: unknown): asserts migrations is readonly Migration[] {
  const fail = (problem: string) => new TypeError(`Cannot migrate: ${problem}`);
  if (!Array.isArray(migrations)) throw fail("the migrations are not a list");
  const names = new Set<string>();
  for (const [index, migration] of migrations.entries()) {
    if (!isGroup(migration)) throw fail(`migration ${index} is not an object`);
    const { name, run, ...others } = migration as Partial<Migration>;
    if (typeof name !== "string" || name === "") throw fail(`migration ${index} has no name`);
    if (typeof run !== "function") throw fail(`"run" of "${name}" is not a function`);
    const unknown = unknownOption(others, { name, run });
    if (unknown !== undefined) throw fail(`"${name}" has no option ${unknown}`);
    if (names.has(name)) throw fail(`two migrations have the name "${name}"`);
    names.add(name);
  }
}
