/**
 * {@linkcode admin} serves an admin page for the models of a router: lists, forms, actions, the trash and the history.
 *
 * @example An admin page for plays
 * ```ts
 * import express from "express";
 * import { all, Framework, FrameworkModel, one, prop, rest } from "@mongrove/mongrove";
 * import { admin } from "@mongrove/mongrove/admin";
 *
 * @rest({ route: "/plays", open: true, methods: [all({ page: { max: 50 } }), one()] })
 * class Play extends FrameworkModel {
 *   @prop({ required: true })
 *   title!: string;
 * }
 *
 * const app = express();
 * app.use(express.json());
 * const api = Framework.initialize({ models: [Play], strict: true });
 * app.use(api);
 * app.use("/admin", admin(api, { title: "Plays" }));
 * ```
 *
 * @module
 */

export { admin } from "./admin.ts";
export type {
  AdminField,
  AdminFormat,
  AdminLogin,
  AdminModel,
  AdminOptions,
  AdminSession,
} from "./options.ts";
