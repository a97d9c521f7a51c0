import mongoose from "mongoose";
import { findMongod } from "../../harness/mongo/find_mongo.ts";
import { withDatabase } from "../../harness/database_uri.ts";
import { until } from "../../support/until.ts";
import type { Hosts } from "./hosts.ts";
import { DATABASE } from "./open_app.ts";
import { untilWhole } from "./replica_set.ts";

/** The hosts of the members. */
export const MEMBERS = ["m1", "m2", "m3"] as const;

const PORT = 27_017;

const SET = "hosts";

/** A replica set whose members have hosts of their own, and names in the place of addresses. */
export type HostsSet = Awaited<ReturnType<typeof openHostsSet>>;

/** Starts a member on its host. */
async function startMember(hosts: Hosts, name: string, folder: string) {
  const { path } = await findMongod();
  const dbpath = `${folder}/${name}`;
  await Deno.mkdir(dbpath);
  const options = [
    ...["--replSet", SET, "--port", String(PORT), "--bind_ip_all", "--nounixsocket"],
    ...["--dbpath", dbpath, "--logpath", `${dbpath}/log`, "--oplogSize", "64"],
    // As docs/reliability.md advises: an application that cannot be reached leaves transactions too
    ...["--setParameter", "transactionLifetimeLimitSeconds=10"],
  ];
  const [program, ...args] = hosts.on(name, [path, ...options]);
  return new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
}

/** Starts a replica set on three hosts. */
export async function openHostsSet(hosts: Hosts) {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-hosts-" });
  const processes = await Promise.all(MEMBERS.map((name) => startMember(hosts, name, folder)));
  await initiate(hosts);
  const uri = `mongodb://${MEMBERS.map((name) => `${name}:${PORT}`)}/?replicaSet=${SET}&w=majority`;
  // The test is on no host, so it knows the names of hosts by itself
  const connection = await mongoose.createConnection(withDatabase(uri, DATABASE), {
    lookup: lookupOn(hosts),
    ...{ serverSelectionTimeoutMS: 60_000, connectTimeoutMS: 3000, heartbeatFrequencyMS: 2000 },
  } as mongoose.ConnectOptions).asPromise();
  return {
    uri,
    connection,
    /** The host of the primary. */
    async primary(): Promise<string> {
      const { primary } = await connection.getClient().db("admin").command({ hello: 1 });
      return String(primary).split(":")[0] ?? "";
    },
    whole: () => untilWhole(connection),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await Promise.all(processes.map(end));
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function end(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended by itself
  }
  await child.status;
}

/** Finds the addresses of hosts in the place of DNS. */
function lookupOn(hosts: Hosts) {
  type Found = readonly { readonly address: string; readonly family: number }[];
  type Callback = (error: null, found: string | Found, family?: number) => void;
  return (name: string, { all }: { readonly all?: boolean }, callback: Callback) => {
    const address = hosts.addressOf(name);
    if (all) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
}

/** Makes a replica set of the members. The first election takes no 10 s: only later ones have this default. */
async function initiate(hosts: Hosts): Promise<void> {
  const [first] = MEMBERS;
  const uri = `mongodb://${hosts.addressOf(first)}:${PORT}/?directConnection=true`;
  const direct = await mongoose.createConnection(uri).asPromise();
  const ask = (command: object) => direct.getClient().db("admin").command(command as never);
  const members = MEMBERS.map((name, _id) => ({ _id, host: `${name}:${PORT}`, priority: 1 }));
  const [preferred] = members;
  if (preferred) preferred.priority = 2;
  const config = { _id: SET, version: 1, members, settings: { electionTimeoutMillis: 2000 } };
  await until(() => ask({ replSetInitiate: config }).then(() => true, () => false));
  await untilWhole(direct);
  const later = {
    ...config,
    version: 2,
    members: members.map((each) => ({ ...each, priority: 1 })),
    settings: { electionTimeoutMillis: 10_000 },
  };
  await until(() => ask({ replSetReconfig: later }).then(() => true, () => false));
  await direct.close();
}
