import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import process from "node:process";
import mongoose from "mongoose";
import { buildApp } from "./app.ts";

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/notes?replicaSet=rs0";

/** Starts the workers, and another for each that dies. */
function lead(): void {
  const count = Number(process.env.WORKERS ?? availableParallelism());
  for (let left = count; left > 0; left--) cluster.fork();
  const restart = () => cluster.fork();
  cluster.on("exit", restart);
  const stop = () => {
    cluster.off("exit", restart);
    for (const worker of Object.values(cluster.workers ?? {})) worker?.kill("SIGTERM");
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

/** Serves the application on the port that all workers share. */
async function work(): Promise<void> {
  await mongoose.connect(uri, { maxPoolSize: 10, w: "majority" });
  const server = buildApp().listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
  const stop = () => {
    // Requests under way are answered; then nothing holds the process
    server.close(() => mongoose.disconnect().finally(() => process.exit()));
    server.closeIdleConnections();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

if (cluster.isPrimary) lead();
else await work();
