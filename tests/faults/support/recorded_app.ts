/**
 * An application whose writes are recorded. The header `x-user` names the sender. `GET /state` tells what has failed.
 *
 * @module
 */
import process from "node:process";
import { Framework } from "../../../mod.ts";
import { app, causes, connect, failures, rejections } from "./recording_app.ts";
import { Plan, Remark } from "./recorded.ts";

app.use(Framework.initialize({
  models: [Plan, Remark],
  actor: (req) => req.get("x-user"),
  onError: (req, error) => void causes.set(req, error),
}));
app.get("/state", (_req, res) => void res.json({ rejections, failures }));
app.use(Framework.errors());
app.listen(Number(process.env.PORT), "127.0.0.1");

await connect();
