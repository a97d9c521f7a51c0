/**
 * {@linkcode openapi} serves an OpenAPI document and a documentation page of an API.
 *
 * @example Describe an API
 * ```ts
 * import express from "express";
 * import { all, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 * import { openapi } from "@mongrove/mongrove/openapi";
 *
 * @rest({ route: "/songs", open: true, methods: [all({ page: { max: 50 } })] })
 * class Song extends FrameworkModel {
 *   @prop({ required: true })
 *   title!: string;
 * }
 *
 * const app = express();
 * app.use(express.json());
 * const api = Framework.initialize({ models: [Song], strict: true });
 * app.use(api);
 * app.use(openapi(api, { info: { title: "Songs", version: "1.0.0" } }));
 * ```
 *
 * @module
 */

export { openapi } from "./openapi.ts";
export type { OpenApiInfo, OpenApiOptions, OpenApiServer } from "./options.ts";
