/**
 * Mongrove turns model classes into REST endpoints over MongoDB.
 *
 * A class declares its fields, its route and its operations, with decorators or with {@linkcode define}.
 * `Framework.initialize()` returns an Express router that serves these operations. Each operation can have hooks, which
 * check and change requests and entities.
 *
 * Without the permission `--allow-sys` in Deno, the MongoDB driver fails only after half a minute. Run the application
 * with `--allow-env`, `--allow-net` and `--allow-sys`.
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
export type { ArrayPropOptions, PropOptions } from "./src/declare/decorators/prop.ts";
export type {
  FieldOptions,
  FieldRule,
  StandardSchema,
  Validator,
} from "./src/declare/decorators/field_options.ts";
export type {
  Defaulted,
  FieldDecorator,
  Hidden,
  Identifier,
  ReadOnly,
  Ref,
  Restricted,
} from "./src/declare/decorators/field_type.ts";
export { define } from "./src/declare/define.ts";
export type { DefineOptions } from "./src/declare/define_input.ts";
export { rest } from "./src/declare/decorators/rest.ts";
export type {
  PartRestDecorator,
  PartRestOptions,
  RestDecorator,
  RestOptions,
} from "./src/declare/decorators/rest.ts";
export type { ErrorContext } from "./src/pipeline/request/reporter.ts";
export type { RequestTrace } from "./src/http/trace_request.ts";
export type { StatementTrace } from "./src/schema/mongoose/statements/trace_statements.ts";
export { RestError } from "./src/errors/rest_error.ts";
export type { RestErrorOptions } from "./src/errors/rest_error.ts";
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
  Fetch,
  HookName,
  Hooks,
  HooksOf,
  LeanHooksOf,
  OperationOptions,
  PreFetch,
} from "./src/declare/hooks/hooks.ts";
export type {
  ArrayFeatures,
  ClassFeatures,
  FieldFeatures,
  LifecycleOptions,
  OptionDescriptions,
  ReadOptions,
  WriteOptions,
} from "./src/declare/options.ts";
export type { CountOptions } from "./src/features/count/option.ts";
export { StoredFile } from "./src/features/files/stored_file.ts";
export type { FileDescription } from "./src/features/files/stored_file.ts";
export type { ListFormat } from "./src/features/formats/option.ts";
export type { DateUnit, GroupsOptions } from "./src/features/groups/option.ts";
export type { Duration } from "./src/declare/model/duration.ts";
export type { HistoryOptions } from "./src/features/history/option.ts";
export type { IdempotencyOptions } from "./src/features/idempotency/option.ts";
export type { LiveDescription, LiveOptions } from "./src/features/live/option.ts";
export type { ListOnDelete, OnDelete } from "./src/features/on_delete/option.ts";
export type { PageOptions } from "./src/features/page/option.ts";
export type { PopulateOptions } from "./src/features/populate/option.ts";
export type { SearchOptions } from "./src/features/search/option.ts";
export type { Stamp } from "./src/features/stamps/option.ts";
export type { TrashOptions } from "./src/features/trash/option.ts";
export type { CloseOptions } from "./src/http/close_server.ts";
export type { ErrorsOptions } from "./src/http/answer_error.ts";
export type { Health } from "./src/host/health.ts";
export type { Tidied, TidyOptions } from "./src/host/housekeeper.ts";
export type { FrameworkRouter, InitializeOptions } from "./src/host/initialize.ts";
export type { Limits } from "./src/host/limits.ts";
export type { StrictOptions } from "./src/pipeline/request/strict_parts.ts";
export type { QueryForOptions } from "./src/host/query_for.ts";
export type {
  BytesDescription,
  ErrorDescription,
  HeaderDescription,
  ParameterDescription,
  RouteDescription,
  WriteDescription,
} from "./src/describe/describe_route.ts";
export type { FilterDescription, FilterPath } from "./src/describe/describe_filter.ts";
export type { OperationName, OperationWords } from "./src/declare/operations/operation.ts";
export type { FieldDescription, ValueDescription } from "./src/describe/describe_object.ts";
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
export type {
  Action,
  ActionTarget,
  DataType,
  ModelQuery,
} from "./src/declare/operations/action.ts";
export type { UnnamedModel } from "./src/declare/operations/hooks_input.ts";
export type { Method } from "./src/declare/operations/methods.ts";
export type { BodyLimits } from "./src/write/body/read_body.ts";
export type { QueryLimits } from "./src/filter/q/limits.ts";
export type { BatchOptions } from "./src/features/batch/option.ts";
export type { LiveLimits } from "./src/features/live/live_limits.ts";
export { getModel } from "./src/schema/get_model.ts";
