import type { GuardRequest } from "../declare/hooks/framework_request.ts";

/** An Info Object of OpenAPI. */
export interface OpenApiInfo {
  /** The name of the API, and the title of the documentation page. */
  readonly title: string;
  /** The version of the API and not of OpenAPI. */
  readonly version: string;
  /** The purpose of the API, in CommonMark. */
  readonly description?: string;
  /** Any other field. */
  readonly [field: string]: unknown;
}

/** A Server Object of OpenAPI. */
export interface OpenApiServer {
  /** The URL of the API, which may be relative to the OpenAPI document. */
  readonly url: string;
  /** A text about the server. */
  readonly description?: string;
  /** Any other field. */
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
  /** The Info Object of the OpenAPI document. */
  readonly info: OpenApiInfo;
  /**
   * The URLs of the API. The default is the folder of `openapi.json`.
   *
   * @default {[{ url: "." }]}
   */
  readonly servers?: readonly OpenApiServer[];
  /**
   * The security schemes of a request, which must satisfy all schemes of one list item. The document only describes
   * them: guards must check requests.
   */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** The Security Scheme Objects of OpenAPI, by name. */
  readonly securitySchemes?: Readonly<Record<string, object>>;
  /**
   * Whether `GET /docs` shows a documentation page.
   *
   * @default {true}
   */
  readonly docs?: boolean;
  /**
   * Returns whether the sender of a request gets the document and the page. Any result except `true` answers 403, and a
   * thrown `RestError` is the answer. No cache stores them. By default, everybody sees the names of all fields and
   * rules.
   */
  readonly see?: (req: GuardRequest) => boolean | Promise<boolean>;
  /**
   * The version of OpenAPI. Version 3.2 describes the method `QUERY`. The documentation page always gets 3.1.
   *
   * @default {"3.1"}
   */
  readonly version?: "3.1" | "3.2";
  /**
   * With `"content"`, the parameter `q` has the media type JSON, so tools can read its structure. With `"string"`, it
   * is a string of JSON, for client generators that leave out a parameter with a media type, or fail at it.
   *
   * @default {"content"}
   */
  readonly q?: "content" | "string";
}
