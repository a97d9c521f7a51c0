/** Options of {@linkcode request}. */
export interface RequestOptions {
  /**
   * The HTTP method.
   *
   * @default {"GET"}
   */
  method?: string;
  /** A value that is sent as JSON. */
  body?: unknown;
  /** A body that is sent as it is, without a content type of its own. */
  raw?: string | Uint8Array<ArrayBuffer>;
  /** Headers; they win over those that follow from the body. */
  headers?: Record<string, string>;
  /**
   * How long the answer may take in all.
   *
   * @default {120_000}
   */
  within?: number;
}

/** The answer to a {@linkcode request}. */
export interface Reply<Body = unknown> {
  /** The HTTP status. */
  readonly status: number;
  /** The headers. */
  readonly headers: Headers;
  /** The body: parsed if it is JSON, else its text, `undefined` if empty. */
  readonly body: Body;
  /** The body as it came. */
  readonly text: string;
}

/**
 * Sends a request, and reads the whole answer. Redirects are not followed.
 *
 * @typeParam Body What the caller takes the body for.
 * @param url The URL.
 * @param options See {@linkcode RequestOptions}.
 * @returns The answer, whatever its status.
 */
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
    // As bytes: a string would bring a content type along
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
