import type { Response } from "express-types";
import { Buffer } from "node:buffer";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { logHint } from "../../errors/log.ts";
import { markTag, tagOf } from "../../pipeline/request/versions.ts";
import { isOver, pathOf } from "../../pipeline/request/reply.ts";
import type { Reply } from "../../pipeline/request/reply.ts";
import { cutAnswer } from "./cut_answer.ts";
import { PIECE } from "./response_stream.ts";
import { sendGathered } from "./send_gathered.ts";
import { sendList } from "./send_list.ts";

/** Headers to which the host may have given values of its own. */
const SHARED_HEADERS: ReadonlySet<string> = new Set(["Link", "Vary"]);

/** Sends what the pipeline replied. If a hook has ended the answer, nothing is sent; if it has only begun it, the answer is cut. */
export async function sendReply(
  res: Response,
  { reply, timeoutMs }: { reply: Reply; timeoutMs: number },
): Promise<void> {
  if (isOver(res.req as FrameworkRequest)) return;
  if (res.headersSent) return await cutBegun(res);
  for (const [name, value] of Object.entries(reply.headers ?? {})) {
    if (SHARED_HEADERS.has(name)) res.append(name, value);
    else res.setHeader(name, value);
  }
  if (reply.created !== undefined) res.setHeader("Location", locationOf(res, reply.created));
  if (reply.texts !== undefined) {
    if (!await sendList(res, { pieces: reply.texts, timeoutMs })) await cutBegun(res);
    return;
  }
  res.status(reply.status);
  if (reply.gathered !== undefined) {
    return await sendGathered(res, { pieces: reply.gathered, timeoutMs });
  }
  const { text } = reply;
  if (text === undefined) return void res.end();
  tagAnswer(res, reply);
  if (text.length <= PIECE) res.type("json").send(text);
  else await sendGathered(res, { pieces: [bytesOf(text)], timeoutMs });
}

function tagAnswer(res: Response, { version, holder, text = "" }: Reply): void {
  if (version === undefined || res.hasHeader("ETag")) return;
  res.setHeader("ETag", markTag(tagOf(version, text), holder));
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? Buffer.from(text) : text;
}

/** Cuts an answer that a hook has begun and not ended. */
async function cutBegun(res: Response): Promise<void> {
  const { method, originalUrl } = res.req;
  logHint(
    `Cannot answer ${method} ${
      originalUrl.split("?")[0]
    }: a hook has begun an answer by itself, and not ended it`,
  );
  await cutAnswer(res);
}

function locationOf({ req }: Response, id: string): string {
  const path = pathOf(req as FrameworkRequest);
  return id === "" ? path : `${path}/${encodeURIComponent(id)}`;
}
