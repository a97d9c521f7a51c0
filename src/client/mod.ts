/**
 * A typed client of an application, for browsers, Deno, Node, Bun and workers. It needs only `fetch()`, and its bundle
 * contains no code of the server.
 *
 * @example Read a page of movies
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
 * const movies = connect("https://example.org/api").resource<Movie>("/movies");
 *
 * async function newest(): Promise<string[]> {
 *   const { items } = await movies.all({ sort: ["-year"], limit: 20 });
 *   return items.map(({ name }) => name);
 * }
 * ```
 *
 * @module
 */

export type { FrameworkModel } from "../declare/model/framework_model.ts";
export { ApiError } from "./api_error.ts";
export type { FieldError } from "./api_error.ts";
export type { Batch } from "./batch/batch.ts";
export { connect } from "./connect.ts";
export type { Api } from "./connect.ts";
export { etagOf } from "./etags.ts";
export type { Page } from "./operations/pages.ts";
export type { CallOptions, ConnectOptions, FetchFunction } from "./sending/send_request.ts";
export type { ActionAnswer } from "./types/action.ts";
export type { ChangesOf, NewOf, PatchOf, ReplacementOf } from "./types/body.ts";
export type { FileJson, FileResource } from "./types/file.ts";
export type { Group } from "./types/groups.ts";
export type { HistoryRecord } from "./types/history.ts";
export type { Json } from "./types/json.ts";
export type { Affected, EntityResult, Written } from "./types/options.ts";
export type { Query } from "./types/query.ts";
export type { Resource, Single } from "./types/resource.ts";
export type { Answer, Populated, SortName } from "./types/select.ts";
