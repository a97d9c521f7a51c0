/**
 * An application with live lists. `GET /state` tells how it is.
 *
 * @module
 */
import process from "node:process";
import { Framework } from "../../../mod.ts";
import { app, causes, connect, failures, outages, rejections } from "./recording_app.ts";
import { Board, Ticket } from "./live_models.ts";

const { HOST = "127.0.0.1", PORT } = process.env;

app.use(Framework.initialize({
  models: [Ticket, Board],
  limits: { live: { renewMS: 3000, maxSubscribers: 20_000 } },
  onError: (req, error) => {
    causes.set(req, error);
    // What ends a stream is answered by nothing
    const { name = "", status } = error as { name?: string; status?: number };
    if (req.res?.headersSent && !name.startsWith("Mongo") && status !== 503) {
      failures.push(`${req.method} ${req.path}: ${error}`);
    }
  },
}));
app.get("/state", (_req, res) => {
  server.getConnections((_error, sockets) => {
    (globalThis as { gc?: () => void }).gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const cpuMs = (user + system) / 1000;
    const timers = process.getActiveResourcesInfo?.().filter((each) => each === "Timeout").length;
    res.json({
      ...{ pid: process.pid, rejections, failures, outages, heapUsed, external, rss, sockets },
      ...{ cpuMs, timers },
    });
  });
});
app.get("/health", async (_req, res) => void res.json(await Framework.health()));
app.use(Framework.errors());
const server = app.listen({ port: Number(PORT), host: HOST, backlog: 4096 });

await connect();
