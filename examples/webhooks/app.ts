/**
 * Sends each change of a ticket to a receiver, with the headers of Standard Webhooks.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import process from "node:process";
import express from "express";
import { create, Framework, FrameworkModel, type Hidden, prop } from "@mongrove/mongrove";
import { remove, rest } from "@mongrove/mongrove";
import { follow } from "@mongrove/mongrove/changes";

@rest({ route: "/tickets", open: true, methods: [create(), remove()] })
class Ticket extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ hidden: true, default: "not for customers" })
  note!: Hidden<string>;
}

const SECRET = process.env.SECRET ?? "change me";
let host = "";

const sign = (text: string) => `v1,${createHmac("sha256", SECRET).update(text).digest("base64")}`;

const follower = follow(Ticket, {
  name: "webhook-desk",
  async handle({ id, kind, _id, entity, signal }) {
    const body = JSON.stringify({ kind, _id, ticket: await entity() });
    const time = String(Math.floor(Date.now() / 1000));
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": time,
      "webhook-signature": sign(`${id}.${time}.${body}`),
    };
    const answer = await fetch(`${host}/receiver`, { method: "POST", body, headers, signal });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`The receiver answered ${answer.status}`);
  },
});

export const app = express();
app.use((req, _res, next) => {
  host = `http://${req.headers.host}`; // a real receiver has its own
  next();
});

const received = new Map<string, object>();
let calls = 0;
app.post("/receiver", express.text({ type: "*/*" }), (req, res) => {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": given } = req.headers;
  const [is, must] = [Buffer.from(`${given}`), Buffer.from(sign(`${id}.${time}.${req.body}`))];
  const isSigned = is.length === must.length && timingSafeEqual(is, must);
  if (!isSigned || Math.abs(Date.now() / 1000 - Number(time)) > 300) return res.sendStatus(401);
  if (++calls === 1) return res.sendStatus(503);
  received.set(String(id), JSON.parse(req.body));
  res.sendStatus(204);
});
app.get("/received", (_req, res) => res.json([...received.values()]));
app.get("/dead", async (_req, res) => res.json(await follower.deadLetters())); // for admins only

app.use(express.json());
app.use(Framework.initialize({ models: [Ticket], strict: true }));
app.use(Framework.errors());
