/** The description of the API in a document: an Info Object of OpenAPI, which can have a `license`, a `contact` and more. */
export interface OpenApiInfo {
  /** The name of the API. */
  readonly title: string;
  /** The version of the API. */
  readonly version: string;
  /** The purpose of the API, in CommonMark. */
  readonly description?: string;
  /** The other fields of an Info Object. */
  readonly [field: string]: unknown;
}

/** Where an API is served: a Server Object of OpenAPI, which can have `variables` and more. */
export interface OpenApiServer {
  /** The URL, which may be relative to the place of the document. */
  readonly url: string;
  /** The purpose of the server. */
  readonly description?: string;
  /** The other fields of a Server Object. */
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
  /** The name and the version of the API. */
  readonly info: OpenApiInfo;
  /**
   * The URLs of the API.
   *
   * @default {the place of the document}
   */
  readonly servers?: readonly OpenApiServer[];
  /** Which of `securitySchemes` a request needs: one of the list. It is told only, your guards check it. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** How requests can be authorised, by name: Security Scheme Objects of OpenAPI. */
  readonly securitySchemes?: Readonly<Record<string, object>>;
  /**
   * Whether `GET /docs` shows a page for the document.
   *
   * @default {true}
   */
  readonly docs?: boolean;
  /**
   * How the document writes the parameter `q`, which is a filter as JSON. With `"content"`, it has the media type JSON, so
   * tools know what a filter may hold. With `"string"`, it is a text whose content is JSON: some generators of clients
   * leave out parameters with a media type, or end.
   *
   * @default {"content"}
   */
  readonly q?: "content" | "string";
}
