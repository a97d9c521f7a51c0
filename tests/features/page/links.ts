import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Client, SendOptions } from "../../support/client.ts";
import type { Reply } from "../../harness/request.ts";

/** The links of an answer, by their relation. */
export function linksOf({ headers }: Reply): Record<string, string> {
  const links = (headers.get("link") ?? "").matchAll(/<([^>]*)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map(([, url = "", rel = ""]) => [rel, url]));
}

/** The identifier of the entity behind which a link continues. */
export function continuesBehind(link: string | undefined): string | undefined {
  const after = new URL(link ?? "", "http://localhost").searchParams.get("after");
  if (after === null || /^[0-9a-f]{24}$/.test(after)) return after ?? undefined;
  const { v, i } = mongoose.mongo.BSON.deserialize(Buffer.from(after, "base64url"));
  return String(i ?? v.at(-1));
}

/** Reads a page and those that follow it, by their links. */
export async function readPages(
  { url, get }: Client,
  path: string,
  options: SendOptions = {},
): Promise<Reply[]> {
  const replies: Reply[] = [];
  const read = new Set<string>();
  const at = new URL(url).pathname.replace(/\/$/, "");
  for (let next: string | undefined = path; next !== undefined;) {
    assert(read.size < read.add(next).size, `${next} follows itself`);
    const reply: Reply = await get(next, options);
    assertEquals(reply.status, 200, reply.text);
    replies.push(reply);
    next = linksOf(reply).next?.slice(at.length);
  }
  return replies;
}
