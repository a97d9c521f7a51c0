import { assertEquals } from "@std/assert";
import { type Reply, request, type RequestOptions } from "../harness/request.ts";

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly errors?: Record<string, { readonly message: string; readonly kind: string }>;
  /** Of a conflict. */
  readonly fields?: readonly string[];
}

/** An entity in an answer. */
export type EntityBody = Record<string, unknown> & { readonly _id: string; readonly __v: number };

/** What may go with a request, besides its method and its JSON. */
export type SendOptions = Omit<RequestOptions, "method" | "body">;

export type Client = ReturnType<typeof client>;

/**
 * Each verb takes a path that continues the URL. `created`, `updated` and `read` expect success and return the body
 * alone.
 *
 * @param served An application, or a URL without a trailing slash.
 * @param headers Headers of a single request win.
 */
export function client(served: { readonly url: string } | string, headers = {}) {
  const url = typeof served === "string" ? served : served.url;
  function send<Body = unknown>(method: string, path = "", options: RequestOptions = {}) {
    return request<Body>(url + path, {
      ...options,
      method,
      headers: { ...headers, ...options.headers },
    });
  }
  const write =
    (method: string) => <Body = EntityBody>(path: string, body?: unknown, options?: SendOptions) =>
      send<Body>(method, path, { ...options, body });
  const ask = (method: string) => <Body = unknown>(path = "", options?: SendOptions) =>
    send<Body>(method, path, options);
  const get = ask("GET");
  const post = write("POST");
  const patch = write("PATCH");
  return {
    url,
    send,
    ...{ get, post, patch, put: write("PUT"), delete: ask("DELETE") },
    created: <Body = EntityBody>(path: string, body: unknown, options?: SendOptions) =>
      bodyOf(201, post<Body>(path, body, options)),
    updated: <Body = EntityBody>(path: string, body: unknown, options?: SendOptions) =>
      bodyOf(200, patch<Body>(path, body, options)),
    read: <Body = EntityBody>(path = "", options?: SendOptions) =>
      bodyOf(200, get<Body>(path, options)),
  };
}

async function bodyOf<Body>(expected: number, reply: Promise<Reply<Body>>): Promise<Body> {
  const { status, text, body } = await reply;
  assertEquals(status, expected, text);
  return body;
}
