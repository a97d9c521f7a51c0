import cluster from "node:cluster";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import mongoose from "mongoose";
import { Framework } from "@mongrove/mongrove";
import { buildApp } from "./app.ts";

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/notes?replicaSet=rs0";

/** Starts the workers, and another for each that dies. */
function lead(): void {
  const count = Number(process.env.WORKERS ?? availableParallelism());
  for (let left = count; left > 0; left--) cluster.fork();
  const restart = () => cluster.fork();
  cluster.on("exit", restart);
  const stop = async () => {
    cluster.off("exit", restart);
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const ends = workers.map((worker) => once(worker, "exit"));
    for (const { process: child } of workers) {
      // In Deno `worker.kill()` tells of the end of a worker before it has ended
      if (child.pid !== undefined) process.kill(child.pid, "SIGTERM");
    }
    await Promise.all(ends);
    process.exit();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

/** Serves the application on the port that all workers share. */
async function work(): Promise<void> {
  while (!await mongoose.connect(uri, { w: "majority" }).catch(console.error)) await wait(1000);
  const server = buildApp().listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
  const stop = async () => {
    await Framework.close(server);
    await mongoose.disconnect();
    process.exit();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

if (cluster.isPrimary) lead();
else await work();
