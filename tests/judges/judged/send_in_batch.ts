import type { Reply, RequestOptions } from "../../harness/request.ts";
import type { Client } from "../../support/client.ts";

interface Sent extends Pick<RequestOptions, "headers" | "body"> {
  readonly method: string;
  readonly path?: string | undefined;
}

interface Answered {
  readonly responses: readonly {
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly body?: unknown;
  }[];
}

/** The headers that a request of a batch sets itself. */
const OWN = ["if-match", "if-none-match", "prefer", "accept"];

/** The refusal of a list that no batch takes. */
const UNPAGED = "A list without pages cannot be a part of a batch";

/** Sends a request as the only one of a batch. Returns the answer that the request alone would have. */
export async function sendInBatch(
  app: Client,
  { method, path = "", headers = {}, body }: Sent,
): Promise<Reply> {
  const all = Object.entries(headers);
  const request = {
    ...{ id: "a", method, path },
    headers: Object.fromEntries(all.filter(([name]) => OWN.includes(name))),
    ...body !== undefined && { body },
  };
  const others = Object.fromEntries(all.filter(([name]) => !OWN.includes(name)));
  const reply = await app.post<unknown>("/batch", { requests: [request] }, { headers: others });
  const { message, failed: _failed, ...details } = Object(reply.body);
  if (message === UNPAGED) return await app.send(method, path, { headers });
  if (reply.status !== 200) return { ...reply, body: { message, ...details } };
  const [answer] = (reply.body as Answered).responses;
  if (answer === undefined) throw new Error(`no answer: ${reply.text}`);
  const text = JSON.stringify(answer.body) ?? "";
  return { ...answer, headers: new Headers(answer.headers), body: answer.body, text };
}
