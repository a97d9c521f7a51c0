import type { GuardRequest } from "../declare/hooks/framework_request.ts";

/**
 * An Info Object of OpenAPI, which describes the API. An Info Object can have other fields, such as `license` and
 * `contact`.
 */
export interface OpenApiInfo {
  /** The name of the API, which is also the title of the documentation page. */
  readonly title: string;
  /** The version of the API and not of OpenAPI, such as `1.0.0`. */
  readonly version: string;
  /** The purpose of the API, in CommonMark. */
  readonly description?: string;
  /** Any other field of an Info Object of OpenAPI, such as `license`. */
  readonly [field: string]: unknown;
}

/**
 * A Server Object of OpenAPI, which has the URL of an API. A Server Object can have other fields, such as `variables`.
 */
export interface OpenApiServer {
  /** The URL of the API. A relative URL is relative to the URL of the OpenAPI document. */
  readonly url: string;
  /** A text about the server for readers of the documentation, such as `Production`. */
  readonly description?: string;
  /** Any other field of a Server Object of OpenAPI, such as `variables`. */
  readonly [field: string]: unknown;
}

/**
 * Options of {@linkcode openapi}.
 *
 * @example Say how requests are authorised
 * ```ts
 * import type { OpenApiOptions } from "@mongrove/mongrove/openapi";
 *
 * const options: OpenApiOptions = {
 *   info: { title: "Movies", version: "1.0.0" },
 *   securitySchemes: { key: { type: "apiKey", in: "header", name: "authorization" } },
 *   security: [{ key: [] }],
 * };
 * ```
 */
export interface OpenApiOptions {
  /** The Info Object of the OpenAPI document, such as `{ title: "Films", version: "1.0.0" }`. */
  readonly info: OpenApiInfo;
  /**
   * The URLs at which clients reach the API, such as `https://example.com/api`. By default, clients use the URL of the
   * folder that contains `openapi.json`.
   *
   * @default {[{ url: "." }]}
   */
  readonly servers?: readonly OpenApiServer[];
  /**
   * The authorisation that a request needs. A request needs one item of the list, and an item names entries of
   * `securitySchemes`. The document only describes this requirement, so guards of the application must check it.
   */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** The Security Scheme Objects of OpenAPI, by name. Each of them is a way to authorise a request. */
  readonly securitySchemes?: Readonly<Record<string, object>>;
  /**
   * Whether `GET /docs` shows a documentation page.
   *
   * @default {true}
   */
  readonly docs?: boolean;
  /**
   * Returns whether the sender of a request gets the OpenAPI document and the documentation page, such as the guard of
   * the API. Any result except `true` answers 403, and a `RestError` that the function throws is the answer. No cache
   * stores the answers. Without this option, everybody gets them, with the names of all fields and rules.
   */
  readonly see?: (req: GuardRequest) => boolean | Promise<boolean>;
  /**
   * The version of OpenAPI. Version 3.2 describes the method `QUERY` of lists, for a router with `queryMethod: true`.
   * The documentation page always gets version 3.1.
   *
   * @default {"3.1"}
   */
  readonly version?: "3.1" | "3.2";
  /**
   * The form of the parameter `q`, which is a filter as JSON. With `"content"`, the parameter has the media type JSON,
   * so tools can read the structure of a filter. With `"string"`, the parameter is a text with JSON as its content.
   * Some client generators leave out a parameter with a media type, or fail at it.
   *
   * @default {"content"}
   */
  readonly q?: "content" | "string";
}
