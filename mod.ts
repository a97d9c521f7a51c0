/**
 * Mongrove turns model classes into REST endpoints over MongoDB.
 *
 * A class declares its fields, its route and its operations, with decorators or with {@linkcode define}.
 * `Framework.initialize()` returns an Express router that serves these operations. Each operation can have hooks, which
 * check and change requests and entities.
 *
 * In Deno, run the application with `--allow-env`, `--allow-net` and `--allow-sys`. Without `--allow-sys`, the MongoDB
 * driver fails only after half a minute.
 *
 * @example Serve a complete application
 * ```ts ignore
 * import express from "express";
 * import mongoose from "mongoose";
 * import { all, create, Framework, FrameworkModel, one, prop, remove, rest, update } from "@mongrove/mongrove";
 *
 * @rest({
 *   route: "/todos",
 *   open: true,
 *   methods: [all({ page: { max: 50 } }), one(), create(), update(), remove()],
 * })
 * class Todo extends FrameworkModel {
 *   @prop({ required: true })
 *   text!: string;
 *   @prop({ default: false })
 *   done!: boolean;
 * }
 *
 * await mongoose.connect("mongodb://127.0.0.1:27017/todos");
 * const app = express();
 * app.use(express.json());
 * app.use(Framework.initialize({ strict: true }));
 * app.use(Framework.errors());
 * app.listen(3000);
 * ```
 *
 * @module
 */

export { arrayProp, prop } from "./src/declare/decorators/prop.ts";
export type { PropOptions } from "./src/declare/decorators/prop.ts";
export type { FieldRule, StandardSchema } from "./src/declare/decorators/field_options.ts";
export type {
  DateOnly,
  Defaulted,
  FieldDecorator,
  Hidden,
  ReadOnly,
  Ref,
  Restricted,
} from "./src/declare/decorators/field_type.ts";
export { define } from "./src/declare/define.ts";
export { rest } from "./src/declare/decorators/rest.ts";
export type { RestOptions } from "./src/declare/decorators/rest.ts";
export type { ErrorContext } from "./src/pipeline/request/reporter.ts";
export type { RequestTrace } from "./src/http/trace_request.ts";
export type { StatementTrace } from "./src/schema/mongoose/statements/trace_statements.ts";
export { RestError } from "./src/errors/rest_error.ts";
export { Framework } from "./src/host/framework.ts";
export { and, asFilter, onlyIf, or } from "./src/declare/hooks/compose.ts";
export { leaveOut } from "./src/declare/hooks/named_fields.ts";
export type {
  Actor,
  FrameworkRequest,
  FrameworkState,
  GuardRequest,
  QueryObject,
} from "./src/declare/hooks/framework_request.ts";
export type {
  EntityHook,
  Hooks,
  HooksOf,
  LeanHooksOf,
  PreFetch,
} from "./src/declare/hooks/hooks.ts";
export { StoredFile } from "./src/features/files/stored_file.ts";
export type { Health } from "./src/host/health.ts";
export type { Tidied } from "./src/host/housekeeper.ts";
export type { FrameworkRouter, InitializeOptions } from "./src/host/initialize.ts";
export type { Limits } from "./src/host/limits.ts";
export type { RouteDescription } from "./src/describe/describe_route.ts";
export { FrameworkModel } from "./src/declare/model/framework_model.ts";
export type { Entity, ModelClass, ModelOf } from "./src/declare/model/framework_model.ts";
export {
  all,
  create,
  one,
  remove,
  removeAll,
  replace,
  update,
  updateAll,
} from "./src/declare/operations/methods.ts";
export { action } from "./src/declare/operations/action.ts";
export type { Action, ModelQuery } from "./src/declare/operations/action.ts";
export type { UnnamedModel } from "./src/declare/operations/hooks_input.ts";
export type { Method } from "./src/declare/operations/methods.ts";
export { getModel } from "./src/schema/get_model.ts";
