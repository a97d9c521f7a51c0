import type { Connection } from "mongoose";
import { FrameworkModel, getModel, type Hidden, prop } from "../../mod.ts";
import { type FollowTimes, startFollow } from "../../src/changes/follow.ts";
import type { Follower, FollowOptions } from "../../src/changes/mod.ts";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { until } from "../support/until.ts";

/** What tests follow: its collection keeps what was stored before and after each change. */
export class Ticket extends FrameworkModel {
  static override schemaOptions = {
    collection: "tickets",
    collectionOptions: { changeStreamPreAndPostImages: { enabled: true } },
  };
  @prop({ required: true })
  title!: string;
  @prop({ default: "open" })
  state!: string;
  @prop({ type: Number, default: 0 })
  count!: number;
  @prop({ hidden: true })
  secret?: Hidden<string>;
  get label(): string {
    return `${this.title} (${this.state})`;
  }
}

/** Its collection keeps no images. */
export class Note extends FrameworkModel {
  @prop()
  text?: string;
}

/** Opens a database of the shared replica set. */
export async function openTickets() {
  const database = await openDatabase(await sharedReplicaSet());
  const tickets = getModel(Ticket);
  await Promise.all([tickets.init(), getModel(Note).init()]);
  return { ...database, tickets, collection: tickets.collection };
}

/** Sends a command to the server: fail points are set by such. */
export async function command(connection: Connection, given: object): Promise<void> {
  await connection.getClient().db("admin").command(given as never);
}

/** Short times, so that tests need not wait. */
export const QUICK: FollowTimes = { leaseMS: 2000, pauses: { firstMS: 20, longestMS: 60_000 } };

/** Follows tickets, and waits for the first lease. */
export async function start(
  given: Partial<FollowOptions<Ticket>> = {},
  times: Partial<FollowTimes> = {},
): Promise<Follower> {
  const options = { name: "test", handle: () => {}, attempts: 3, ...given };
  const follower = startFollow(Ticket, { options, times: { ...QUICK, ...times } });
  await until(async () => await follower.lag() !== undefined);
  return follower;
}
