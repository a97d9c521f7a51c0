export interface RequestOptions {
  method?: string;
  body?: unknown;
  /** Sent without a content type. */
  raw?: string | Uint8Array<ArrayBuffer>;
  /** They win over the headers of the body. */
  headers?: Record<string, string>;
  /**
   * In milliseconds, until the end of the answer.
   *
   * @default {120_000}
   */
  within?: number;
}

export interface Reply<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed if it is JSON, else text. `undefined` if empty. */
  readonly body: Body;
  readonly text: string;
}

/** Redirects are not followed. */
export async function request<Body = unknown>(
  url: string | URL,
  options: RequestOptions = {},
): Promise<Reply<Body>> {
  const { method = "GET", body, raw, headers, within = 120_000 } = options;
  const sent = raw ?? (body === undefined ? null : JSON.stringify(body));
  const type: Record<string, string> = raw === undefined && sent !== null
    ? { "content-type": "application/json" }
    : {};
  const answer = await fetch(url, {
    method,
    headers: { ...type, ...lowerKeys(headers) },
    // A string would add a content type.
    body: typeof sent === "string" ? new TextEncoder().encode(sent) : sent,
    redirect: "manual",
    signal: AbortSignal.timeout(within),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: parse(text, answer.headers) as Body,
    text,
  };
}

function lowerKeys(
  headers: Record<string, string> = {},
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]),
  );
}

function parse(text: string, headers: Headers): unknown {
  if (text === "") return undefined;
  const isJson = /\bjson\b/.test(headers.get("content-type") ?? "");
  return isJson ? JSON.parse(text) : text;
}
