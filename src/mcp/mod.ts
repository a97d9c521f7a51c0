/**
 * Middleware for AI assistants. {@linkcode mcp} serves chosen models by the Model Context Protocol.
 *
 * @example Let assistants read
 * ```ts
 * import express from "express";
 * import { all, Framework, FrameworkModel, one, prop, rest } from "@mongrove/mongrove";
 * import { mcp } from "@mongrove/mongrove/mcp";
 *
 * @rest({ route: "/poems", open: true, methods: [all({ page: { max: 50 } }), one()] })
 * class Poem extends FrameworkModel {
 *   @prop({ required: true })
 *   text!: string;
 * }
 *
 * const app = express();
 * app.use(express.json());
 * const api = Framework.initialize({ models: [Poem], strict: true });
 * app.use(api);
 * app.use("/mcp", mcp(api, { expose: [{ model: Poem }] }));
 * ```
 *
 * @module
 */

export { mcp } from "./mcp.ts";
export type { McpMiddleware } from "./mcp.ts";
export type { ExposedOperation, Exposure, McpOptions } from "./options.ts";
export type { McpAuthorization, McpToken } from "./options.ts";
