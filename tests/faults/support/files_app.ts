/**
 * An application with files. `POST /tidy` runs its housekeeping as of tomorrow. `GET /state` tells what has failed.
 *
 * @module
 */
import process from "node:process";
import { Framework } from "../../../mod.ts";
import { app, causes, connect, failures, rejections } from "./recording_app.ts";
import { Scan } from "./files_judge.ts";

app.use(Framework.initialize({
  models: [Scan],
  onError: (req, error) => void causes.set(req, error),
}));
app.get("/state", (_req, res) => void res.json({ rejections, failures }));
app.post("/tidy", async (_req, res) => {
  res.json(await Framework.tidy({ at: new Date(Date.now() + 24 * 3_600_000) }));
});
app.use(Framework.errors());
app.listen(Number(process.env.PORT), "127.0.0.1");

await connect();
