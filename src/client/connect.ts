import type { FrameworkModel } from "../declare/model/framework_model.ts";
import { openResource } from "./operations/open_resource.ts";
import { Operations } from "./operations/operations.ts";
import { type ConnectOptions, type Send, sendRequest } from "./sending/send_request.ts";
import type { Resource } from "./types/resource.ts";

/** Options of `resource()`, which apply to all operations of the returned resource. */
export interface ResourceOptions {
  /**
   * Whether `create()` and `createMany()` send the header `Idempotency-Key`, so that the client can repeat both after a
   * 503 or a lost connection. The route must have `create({ idempotency: … })`. Other routes ignore the key and create
   * an entity for each repetition. Sub-resources that `part()` opens send no key.
   *
   * @default {false}
   */
  readonly idempotency?: boolean | undefined;
}

/** The client of one server, from which an application opens the resource of each route. */
export interface Api {
  /**
   * Returns the resource of a route.
   *
   * @typeParam M The model of the route, imported as a type: `import type { Movie } from "./movie.ts"`.
   * @param path The path of the route, such as `/movies`.
   * @param options Whether the client can repeat creations.
   * @throws {TypeError} If the path does not begin with a slash.
   */
  resource<M extends FrameworkModel>(path: string, options?: ResourceOptions): Resource<M>;
}

/**
 * Returns a client of a server. The client sends no request until an operation is called.
 *
 * @param base The URL at which `Framework.initialize()` is mounted, such as `https://example.org/api`. In browsers, the
 * URL may be a path.
 * @param options The headers, the time limit, and the repetition of requests.
 * @returns The client.
 *
 * @example Read, change and list movies
 * ```ts
 * import { FrameworkModel, prop } from "@mongrove/mongrove";
 * import { connect } from "@mongrove/mongrove/client";
 *
 * class Movie extends FrameworkModel {
 *   @prop({ required: true })
 *   name!: string;
 *   @prop({ type: Number })
 *   year?: number;
 * }
 *
 * const api = connect("https://example.org/api", { headers: () => ({ authorization: "<TOKEN>" }) });
 * const movies = api.resource<Movie>("/movies");
 *
 * async function correct(id: string): Promise<void> {
 *   const movie = await movies.one(id);
 *   await movies.update(id, { year: (movie.year ?? 0) + 1 }, { ifMatch: movie });
 * }
 *
 * async function print(): Promise<void> {
 *   for await (const { name } of movies.each({ q: { year: { $gte: 1970 } }, sort: ["-year"] })) {
 *     console.log(name);
 *   }
 * }
 * ```
 */
export function connect(base: string, options: ConnectOptions = {}): Api {
  const send: Send = (outgoing) => sendRequest(outgoing, options);
  const root = trimmed(base);
  return {
    resource<M extends FrameworkModel>(
      path: string,
      { idempotency }: ResourceOptions = {},
    ): Resource<M> {
      if (!path.startsWith("/")) {
        throw new TypeError(`Cannot open "${path}": the path must begin with a slash`);
      }
      const list = new Operations(send, root + trimmed(path), idempotency);
      return openResource(list) as unknown as Resource<M>;
    },
  };
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}
