/** Files beside the driver's streams by hand: throughput, and the memory of many large transfers at once. @module */
import mongoose from "mongoose";
import { withDatabase } from "../tests/harness/database_uri.ts";
import { startMongo } from "../tests/harness/mongo/start_mongo.ts";
import { say } from "../tests/harness/say.ts";
import { itemId, SCANS } from "./data.ts";
import { medians } from "./figures.ts";
import { openWorkspace, startServer, type Workspace } from "./programs.ts";
import { type Effort, QUICK } from "./scenarios.ts";
import { BASELINE, chooseServers, DRIVER, OURS, type Server } from "./servers.ts";

/** A server in a scenario. Its peak memory is that of a process that serves nothing else. */
export type FilesFigure = Readonly<
  Record<"server" | "scenario", string> & Record<"mbPerSecond" | "peakMb", number>
>;

type Bench = Readonly<{ host: mongoose.Connection; workspace: Workspace; uri: string }>;
type Transfers = readonly [scenario: string, downloads: number, uploads: number, bytes: number];

const PIECE = crypto.getRandomValues(new Uint8Array(65_536));

/** Sends a request over a connection of its own. Returns the number of bytes of the answer. */
async function transfer(port: number, head: string, sent: number): Promise<number> {
  using socket = await Deno.connect({ hostname: "127.0.0.1", port });
  const send = async (piece: Uint8Array) => {
    for (let at = 0; at < piece.length;) at += await socket.write(piece.subarray(at));
  };
  const headers = `Host: a\r\nContent-Length: ${sent}\r\nConnection: close`;
  await send(new TextEncoder().encode(`${head}/file HTTP/1.1\r\n${headers}\r\n\r\n`));
  for (let left = sent; left > 0; left -= PIECE.length) await send(PIECE.subarray(0, left));
  const buffer = new Uint8Array(262_144);
  let [received, status] = [0, ""];
  for (let size = await socket.read(buffer); size !== null; size = await socket.read(buffer)) {
    status ||= new TextDecoder().decode(buffer.subarray(9, 12));
    received += size;
  }
  if (!status.startsWith("2")) throw new Error(`${head} was answered "${status}"`);
  return received;
}

/** Starts a server, and runs transfers at once. The file of all downloads is stored before. */
async function measure(
  server: Server,
  { host, workspace, uri }: Bench,
  [scenario, downloads, uploads, bytes]: Transfers,
): Promise<FilesFigure> {
  await host.dropDatabase();
  const ids = Array.from({ length: uploads + 1 }, (_, index) => itemId(index));
  const scans = ids.map((id) => ({ _id: new mongoose.Types.ObjectId(id), __v: 0 }));
  await host.collection(SCANS).insertMany(scans);
  const { pid, port, stop } = await startServer(server, workspace, { uri });
  try {
    const [read = "", ...written] = ids.map((id) => `/${SCANS}/${id}`);
    await transfer(port, `PUT ${read}`, bytes);
    const start = performance.now();
    const received = await Promise.all([
      ...Array.from({ length: downloads }, () => transfer(port, `GET ${read}`, 0)),
      ...written.map((path) => transfer(port, `PUT ${path}`, bytes)),
    ]);
    const mbPerSecond = received.length * bytes / 1000 / (performance.now() - start);
    if (received.slice(0, downloads).some((size) => size < bytes)) throw new Error("Cut short");
    const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/status`] }).output();
    const [, kb] = /^VmHWM:\s*(\d+) kB$/m.exec(new TextDecoder().decode(stdout)) ?? [];
    return { server: server.id, scenario, mbPerSecond, peakMb: Number(kb) / 1024 };
  } finally {
    await stop();
  }
}

/** Measures uploads, downloads, and both at once, with files of 100 MB, or with small ones for `--quick`. */
export async function measureFiles({ rounds, cellMs }: Effort) {
  const isQuick = cellMs === QUICK.cellMs;
  const [many, some, bytes] = isQuick ? [20, 2, 5e6] : [200, 20, 1e8];
  const both = `${many} downloads and ${some} uploads at once`;
  const scenarios = [["upload", 0, 1], ["download", 1, 0], [both, many, some]] as const;
  const servers = chooseServers([OURS, DRIVER]).filter(({ kind }) => kind.name !== BASELINE);
  await using workspace = await openWorkspace(servers);
  await using mongo = await startMongo();
  const uri = withDatabase(mongo.uri, `mongrove_bench_${crypto.randomUUID().slice(0, 8)}`);
  const host = await mongoose.createConnection(uri).asPromise();
  const { version } = await host.getClient().db("admin").command({ buildInfo: 1 });
  const samples: FilesFigure[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      say(`Round ${round + 1} of ${rounds}: ${scenario[0]}`);
      for (const server of servers) {
        samples.push(await measure(server, { host, workspace, uri }, [...scenario, bytes]));
      }
    }
  }
  await host.dropDatabase();
  await host.close();
  const groups = Map.groupBy(samples, ({ scenario, server }) => `${scenario} ${server}`);
  const sumUp = (group: FilesFigure[]) => medians(group, ["mbPerSecond", "peakMb"]);
  const figures = [...groups.values()].map((group) => ({ ...group[0], ...sumUp(group) }));
  const versions: Record<string, string> = { ...workspace.versions, MongoDB: version };
  return { figures: figures as FilesFigure[], notes: workspace.notes, rounds, versions };
}
