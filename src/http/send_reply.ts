import type { Response } from "express-types";
import type { Reply } from "../pipeline/reply.ts";
import { sendList } from "./send_list.ts";

/** Sends what the pipeline replied. */
export async function sendReply(res: Response, reply: Reply): Promise<void> {
  // A hook has answered by itself.
  if (res.writableEnded) return;
  if (reply.created !== undefined) res.setHeader("Location", locationOf(res, reply.created));
  if (reply.texts !== undefined) return await sendList(res, reply.texts, reply.streams === true);
  res.status(reply.status);
  if (reply.text === undefined) res.end();
  else res.type("json").send(reply.text);
}

/** The path of a new entity, from the mount and the route alone: no header of the client has a say in it. */
function locationOf({ req }: Response, id: string): string {
  const path = `${req.baseUrl}${req.path}`.replace(/^[/\\]+/, "/").replace(/\/+$/, "");
  return id === "" ? path : `${path}/${encodeURIComponent(id)}`;
}
