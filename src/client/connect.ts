import type { FrameworkModel } from "../declare/model/framework_model.ts";
import type { Batch, BatchCallOptions } from "./batch/batch.ts";
import { makeResource } from "./operations/make_resource.ts";
import { Operations } from "./operations/operations.ts";
import { routePath, trimmed } from "./operations/route_path.ts";
import { type ConnectOptions, type Send, sendRequest } from "./sending/send_request.ts";
import type { Resource } from "./types/resource.ts";

/** @internal */
export interface ResourceOptions {
  /**
   * Whether `create()` and `createMany()` send an `Idempotency-Key`, so that the client can repeat both after a 503 or
   * a lost connection. The route must have `create({ idempotency: … })`. Other routes ignore the key and create an
   * entity for each repetition. Sub-resources of `part()` send no key.
   *
   * @default {false}
   */
  readonly idempotency?: boolean | undefined;
}

/** The client of one server. */
export interface Api {
  /**
   * Returns the resource of a route.
   *
   * @typeParam M The model of the route, imported as a type: `import type { Movie } from "./movie.ts"`.
   * @param path The path of the route, such as `/movies`.
   * @throws {TypeError} If the path does not begin with a slash.
   */
  resource<M extends FrameworkModel>(path: string, options?: ResourceOptions): Resource<M>;
  /**
   * Sends several operations in one request, in order and in one transaction: all succeed, or nothing is written. The
   * server must have `initialize({ batch: … })`. The client repeats the request only after a 503 with the reason
   * `locked`.
   *
   * @param build Calls the operations, and returns their promises without waiting for them.
   * @returns The results of the returned promises.
   * @throws {ApiError} If an operation fails. The property `failed` of the body has the index of this operation, as a
   *   string.
   *
   * @example Create an author and a book
   * ```ts
   * import { FrameworkModel, prop, type Ref } from "@mongrove/mongrove";
   * import { connect } from "@mongrove/mongrove/client";
   *
   * class Author extends FrameworkModel {
   *   @prop()
   *   name?: string;
   * }
   *
   * class Book extends FrameworkModel {
   *   @prop({ ref: () => Author })
   *   author?: Ref<Author>;
   * }
   *
   * async function addBook(): Promise<string> {
   *   const [, book] = await connect("https://example.org/api").batch((batch) => {
   *     const author = batch.resource<Author>("/authors").create({ name: "Mary Shelley" });
   *     const book = batch.resource<Book>("/books").create({ author: batch.value(author, "_id") });
   *     return [author, book];
   *   });
   *   return book._id;
   * }
   * ```
   */
  batch<const T extends readonly unknown[]>(
    build: (batch: Batch) => T,
    options?: BatchCallOptions,
  ): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>;
}

/**
 * Returns a client of a server, which sends no request until an operation is called.
 *
 * @param base The URL at which `Framework.initialize()` is mounted, such as `https://example.org/api`. In browsers, the
 * URL may be a path.
 * @throws {TypeError} If the options have an API key and the header `Authorization`.
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
  const { apiKey, headers } = options;
  if (apiKey && typeof headers !== "function" && new Headers(headers).has("authorization")) {
    throw new TypeError("Cannot connect: apiKey beside the header authorization");
  }
  const send: Send = (outgoing) => sendRequest(outgoing, options);
  const root = trimmed(base);
  return {
    resource<M extends FrameworkModel>(
      path: string,
      { idempotency }: ResourceOptions = {},
    ): Resource<M> {
      const list = new Operations(send, root + routePath(path), idempotency);
      return makeResource(list) as unknown as Resource<M>;
    },
    async batch(build, options = {}) {
      const { runBatch } = await import("./batch/batch.ts");
      return await runBatch(build, { root, send, options }) as never;
    },
  };
}
