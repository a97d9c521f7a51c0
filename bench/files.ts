/** Files beside the driver's streams by hand: throughput, and the memory of many large transfers at once. @module */
import mongoose from "mongoose";
import { itemId, SCANS } from "./data.ts";
import { type Cell, mediansOf } from "./figures.ts";
import { connect, encode } from "./load.ts";
import { type Bench, measureRounds } from "./measure.ts";
import { memoryOf, startServer } from "./programs.ts";
import { QUICK } from "./scenarios.ts";

/** A server in a scenario. Its peak memory is that of a process that serves nothing else. */
export type FilesFigure = Cell & Readonly<Record<"mbPerSecond" | "peakMb", number>>;

const PIECE = crypto.getRandomValues(new Uint8Array(50_000));

/** Sends a request over a connection of its own. Returns the number of bytes of the answer. */
async function transfer(port: number, line: string, sent: number): Promise<number> {
  using connection = await connect(port);
  const head = encode(`${line}/file`, `content-length: ${sent}\r\n`);
  const pieces = Array.from({ length: sent / PIECE.length }, () => PIECE);
  const { bytes, status } = await connection.send(head, ...pieces);
  if (status >= 300) throw new Error(`${line} was answered ${status}`);
  return bytes;
}

/** Measures uploads, downloads, and both at once, with files of 100 MB, or with small ones for `--quick`. */
export async function measureFiles(bench: Bench): Promise<FilesFigure[]> {
  const { database: { connection }, effort } = bench;
  const isQuick = effort.cellMs === QUICK.cellMs;
  const [many, some, bytes] = isQuick ? [20, 2, 5e6] : [200, 20, 1e8];
  const both = `${many} downloads and ${some} uploads at once`;
  const transfers = [["upload", 0, 1], ["download", 1, 0], [both, many, some]] as const;
  const scenarios = transfers.map(([name, downloads, uploads]) => {
    return { name, title: name, feature: "files", downloads, uploads };
  });
  const samples = await measureRounds(bench, scenarios, async (server, scenario) => {
    const { name, downloads, uploads } = scenario;
    await connection.dropDatabase();
    const ids = Array.from({ length: uploads + 1 }, (_, index) => itemId(index));
    const scans = ids.map((id) => ({ _id: new mongoose.Types.ObjectId(id), __v: 0 }));
    await connection.collection(SCANS).insertMany(scans);
    const [read = "", ...written] = ids.map((id) => `/${SCANS}/${id}`);
    await using running = await startServer(server, bench);
    const { pid, port } = running;
    await transfer(port, `PUT ${read}`, bytes);
    const start = performance.now();
    const received = await Promise.all([
      ...Array.from({ length: downloads }, () => transfer(port, `GET ${read}`, 0)),
      ...written.map((path) => transfer(port, `PUT ${path}`, bytes)),
    ]);
    const mbPerSecond = received.length * bytes / 1000 / (performance.now() - start);
    if (received.slice(0, downloads).some((size) => size < bytes)) throw new Error("Cut short");
    return { server: server.id, scenario: name, mbPerSecond, peakMb: memoryOf(pid, "VmHWM") };
  });
  return mediansOf(samples, ["mbPerSecond", "peakMb"]);
}
