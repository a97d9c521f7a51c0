import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { FrameworkModel, getModel, prop } from "../../mod.ts";
import type { Migration, MigrationContext } from "../../src/work/mod.ts";
import { runMigrations, type RunMigrationsOptions } from "../../src/work/_run_migrations.ts";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";

/** A class whose entities are migrated. */
export class Parcel extends FrameworkModel {
  static override schemaOptions = { collection: "parcels", timestamps: true };
  @prop()
  label?: string;
  @prop({ type: Number })
  weight?: number;
}

/** Opens a database of the shared replica set, with parcels of which each has a `title`, as an older release stored. */
export async function openParcels(count = 3) {
  const database = await openDatabase(await sharedReplicaSet());
  const parcels = getModel(Parcel);
  await parcels.init();
  const all = Array.from({ length: count }, (_, index) => ({ title: `t${index}`, __v: 0 }));
  if (count > 0) await parcels.collection.insertMany(all);
  const { connection } = mongoose;
  const migrations = connection.collection<StoredRecord>("mongrove_migrations");
  return { ...database, connection, parcels, collection: parcels.collection, migrations };
}

/** The record of a migration. */
export interface StoredRecord {
  readonly _id: string;
  readonly number: number;
  readonly order: number;
  readonly outcome?: string;
  readonly process?: string;
  readonly error?: string;
  readonly tookMS?: number;
  readonly startedAt?: Date;
  readonly until: Date;
  readonly progress?: Readonly<Record<string, object>>;
}

/** A migration that notes its name. */
export function noting(name: string, notes: string[]): Migration {
  return { name, run: () => void notes.push(name) };
}

/** Runs one migration by the lease of the tests. */
export async function runOne(
  run: (context: MigrationContext) => unknown,
  { name = "one", ...options }: Partial<RunMigrationsOptions> & { readonly name?: string } = {},
): Promise<string[]> {
  const closing = new AbortController().signal;
  const { connection } = mongoose;
  return await runMigrations([{ name, run }], {
    connection,
    waitMS: 30_000,
    wait: true,
    closing,
    ...options,
  });
}

/** Ends the lease of a record, as if its process had been stopped for long. */
export async function endLease(connection: Connection, collection: string, name: string) {
  const filter = { _id: name } as object;
  await connection.collection(collection).updateOne(filter, { $set: { until: new Date(0) } });
}

/** A promise that a test resolves. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
