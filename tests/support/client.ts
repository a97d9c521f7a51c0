import { assertEquals } from "@std/assert";
import { type Reply, request, type RequestOptions } from "../harness/request.ts";

/** What an error answers. */
export interface ErrorBody {
  /** The code. */
  readonly code: string;
  /** The message. */
  readonly message: string;
  /** What is wrong with which field. */
  readonly errors?: Record<string, { readonly message: string; readonly kind: string }>;
  /** The fields of a conflict. */
  readonly fields?: readonly string[];
}

/** Any entity, as an answer shows it. */
export type EntityBody = Record<string, unknown> & { readonly _id: string; readonly __v: number };

/** What may go with a request, besides its method and its JSON. */
export type SendOptions = Omit<RequestOptions, "method" | "body">;

/** What speaks to a served application: see {@linkcode client}. */
export type Client = ReturnType<typeof client>;

/**
 * Speaks to what listens at a URL: each verb takes a path that continues the URL, and gives the whole reply.
 * `created`, `updated` and `read` expect success, and give the body alone.
 *
 * @param served Where it listens: an application, or a URL without a trailing slash.
 * @param headers Headers of every request; those of a single request win.
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
