/**
 * The application that has to live through the faults. `GET /state` tells how it is.
 *
 * @module
 */
import process from "node:process";
import { Framework } from "../../../mod.ts";
import { Account, Counter } from "../../fixtures/versioned.ts";
import { Board, buildVisits, Guarded, GuardedLot, Log, Lot, Note, Order, Shown } from "./models.ts";
import type { AppState } from "./open_app.ts";
import { app, causes, connect, failures, outages, rejections } from "./recording_app.ts";

const { FAULTS_TENANTS = "{}", FAULTS_SEND, HOST = "127.0.0.1", PORT } = process.env;

app.use(Framework.initialize({
  models: [
    ...[Note, Guarded, Log, Board, Account, Counter, Order, Shown, Lot, GuardedLot],
    buildVisits(JSON.parse(FAULTS_TENANTS)),
  ],
  limits: { sendMS: Number(FAULTS_SEND) },
  onError: (req, error) => void causes.set(req, error),
}));
app.get("/state", (_req, res) => {
  server.getConnections((_error, sockets) => {
    // With --expose-gc: what is held, without what is only not collected yet
    (globalThis as { gc?: () => void }).gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    const memory = { heapUsed, external, rss };
    const state: AppState = { pid: process.pid, rejections, failures, outages, ...memory, sockets };
    res.json(state);
  });
});
app.use(Framework.errors());
const server = app.listen(Number(PORT), HOST);

await connect();
