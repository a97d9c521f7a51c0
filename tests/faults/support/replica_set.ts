import mongoose, { type Connection } from "mongoose";
import { withDatabase } from "../../harness/database_uri.ts";
import { type RunningMongo, startMongo } from "../../harness/mongo/start_mongo.ts";
import { until } from "../../support/until.ts";
import { DATABASE } from "./open_app.ts";

/** The milliseconds without a primary after which members elect one, where nobody says otherwise. */
const ELECTION_MS = 10_000;

/** The process of a member. */
type Member = NonNullable<RunningMongo["members"][number]["instanceInfo"]>["instance"];

/** A replica set of three members whose primary can be harmed. */
export type ReplicaSet = Awaited<ReturnType<typeof openReplicaSet>>;

/** Deno disconnects twice from the process that watches over a member, if both end at once: that is an error event. */
function ignoreWatcher({ killerProcess }: Member): void {
  killerProcess?.on("error", () => {});
}

/** Starts a replica set, with the election timeout that MongoDB has by default, or with another one. */
export async function openReplicaSet(electionMS = ELECTION_MS, replicaSet = 3) {
  const mongo = await startMongo({ replicaSet });
  const members = mongo.members.flatMap(({ instanceInfo }) => instanceInfo?.instance ?? []);
  for (const each of members) ignoreWatcher(each);
  const uri = withDatabase(mongo.uri, DATABASE);
  const options = { serverSelectionTimeoutMS: 60_000, readPreference: "primary" } as const;
  const connection = await mongoose.createConnection(uri, options).asPromise();
  const ask = (command: object) => connection.getClient().db("admin").command(command as never);
  const { config } = await ask({ replSetGetConfig: 1 });
  config.version++;
  config.settings.electionTimeoutMillis = electionMS;
  await ask({ replSetReconfig: config });
  return {
    uri: mongo.uri,
    connection,
    /** The process of the primary. */
    async primary(): Promise<Member> {
      const { me } = await ask({ hello: 1 });
      const port = Number(me.split(":")[1]);
      const found = members.find(({ instanceOpts }) => instanceOpts.port === port);
      if (!found) throw new Error(`Cannot find the member "${me}"`);
      return found;
    },
    /** Has the primary step down; it refuses as long as no other member has caught up. */
    stepDown: () =>
      until(() => ask({ replSetStepDown: 10 }).then(() => true, () => false), { seconds: 60 }),
    /** Resolves when there is a primary, and every other member follows it. */
    whole: () => untilWhole(connection),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await mongo.stop();
    },
  };
}

export function hasEnded({ mongodProcess: child }: Member): boolean {
  return child?.exitCode !== null || child.signalCode !== null;
}

/** Resolves when three members have a primary, and every other one follows it. */
export async function untilWhole(connection: Connection): Promise<void> {
  const states = async () => {
    const status = connection.getClient().db("admin").command({ replSetGetStatus: 1 });
    const { members } = await status.catch(() => ({ members: [] }));
    return members.map(({ state }: { state: number }) => state).sort().join();
  };
  await until(async () => await states() === "1,2,2", { seconds: 120 });
}

/** Sends a signal to a member. */
export function signal({ mongodProcess }: Member, name: Deno.Signal): void {
  if (mongodProcess?.pid) Deno.kill(mongodProcess.pid, name);
}

/** Starts a member that has ended, with the data that it had. */
export async function restart(member: Member): Promise<void> {
  await until(() => hasEnded(member), { seconds: 60 });
  delete member.mongodProcess;
  await member.start();
  ignoreWatcher(member);
}
