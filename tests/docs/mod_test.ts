import { assertEquals, assertThrows } from "@std/assert";
import * as mod from "../../mod.ts";
import type {
  Action,
  ActionTarget,
  Actor,
  ArrayFeatures,
  ArrayPropOptions,
  BatchOptions,
  BodyLimits,
  BytesDescription,
  ClassFeatures,
  CloseOptions,
  CountOptions,
  DataType,
  DateUnit,
  DefineOptions,
  Duration,
  Entity,
  EntityHook,
  ErrorContext,
  ErrorDescription,
  ErrorsOptions,
  Fetch,
  FieldDecorator,
  FieldDescription,
  FieldFeatures,
  FieldOptions,
  FieldRule,
  FileDescription,
  FilterDescription,
  FilterPath,
  FrameworkRequest,
  FrameworkRouter,
  FrameworkState,
  GroupsOptions,
  GuardRequest,
  HeaderDescription,
  Health,
  Hidden,
  HistoryOptions,
  HookName,
  Hooks,
  HooksOf,
  IdempotencyOptions,
  Identifier,
  InitializeOptions,
  LeanHooksOf,
  LifecycleOptions,
  ListFormat,
  ListOnDelete,
  LiveDescription,
  LiveLimits,
  LiveOptions,
  Method,
  ModelClass,
  ModelOf,
  ModelQuery,
  OnDelete,
  OperationName,
  OperationOptions,
  OperationWords,
  OptionDescriptions,
  PageOptions,
  ParameterDescription,
  PartRestDecorator,
  PartRestOptions,
  PopulateOptions,
  PreFetch,
  PropOptions,
  QueryForOptions,
  QueryLimits,
  QueryObject,
  ReadOnly,
  ReadOptions,
  Ref,
  RequestTrace,
  RestDecorator,
  RestErrorOptions,
  RestOptions,
  Restricted,
  RouteDescription,
  SearchOptions,
  Stamp,
  StandardSchema,
  StatementTrace,
  Tidied,
  TidyOptions,
  TrashOptions,
  UnnamedModel,
  Validator,
  ValueDescription,
  WriteDescription,
  WriteOptions,
} from "../../mod.ts";

/** The values that the package exports: the names of the reference, `define` and `getModel`. */
const VALUES = [
  "Framework",
  "FrameworkModel",
  "RestError",
  "StoredFile",
  "action",
  "all",
  "and",
  "arrayProp",
  "asFilter",
  "create",
  "define",
  "getModel",
  "leaveOut",
  "one",
  "onlyIf",
  "or",
  "prop",
  "remove",
  "removeAll",
  "replace",
  "rest",
  "update",
  "updateAll",
];

/** The types that the package exports: each one is used, so that a missing one does not compile. */
interface Types {
  Action: Action;
  ActionTarget: ActionTarget;
  Actor: Actor;
  ArrayFeatures: ArrayFeatures;
  ArrayPropOptions: ArrayPropOptions<string, StringConstructor>;
  BatchOptions: BatchOptions;
  BodyLimits: BodyLimits;
  BytesDescription: BytesDescription;
  ClassFeatures: ClassFeatures;
  CloseOptions: CloseOptions;
  CountOptions: CountOptions;
  DataType: DataType;
  DateUnit: DateUnit;
  DefineOptions: DefineOptions<mod.FrameworkModel>;
  Duration: Duration;
  Entity: Entity<mod.FrameworkModel>;
  EntityHook: EntityHook<object>;
  ErrorContext: ErrorContext;
  ErrorDescription: ErrorDescription;
  ErrorsOptions: ErrorsOptions;
  Fetch: Fetch;
  FieldDecorator: FieldDecorator<string>;
  FieldDescription: FieldDescription;
  FieldFeatures: FieldFeatures;
  FieldOptions: FieldOptions<string>;
  FieldRule: FieldRule;
  FileDescription: FileDescription;
  FilterDescription: FilterDescription;
  FilterPath: FilterPath;
  FrameworkRequest: FrameworkRequest;
  FrameworkRouter: FrameworkRouter;
  FrameworkState: FrameworkState;
  GuardRequest: GuardRequest;
  GroupsOptions: GroupsOptions;
  HeaderDescription: HeaderDescription;
  Health: Health;
  Hidden: Hidden<string>;
  HistoryOptions: HistoryOptions;
  HookName: HookName;
  Hooks: Hooks<object>;
  HooksOf: HooksOf<mod.FrameworkModel>;
  IdempotencyOptions: IdempotencyOptions;
  Identifier: Identifier;
  InitializeOptions: InitializeOptions;
  LeanHooksOf: LeanHooksOf<mod.FrameworkModel>;
  LifecycleOptions: LifecycleOptions;
  ListFormat: ListFormat;
  ListOnDelete: ListOnDelete;
  LiveDescription: LiveDescription;
  LiveLimits: LiveLimits;
  LiveOptions: LiveOptions;
  Method: Method;
  ModelClass: ModelClass;
  ModelOf: ModelOf<ModelClass>;
  ModelQuery: ModelQuery<mod.FrameworkModel>;
  OnDelete: OnDelete;
  OperationName: OperationName;
  OperationOptions: OperationOptions;
  OperationWords: OperationWords;
  OptionDescriptions: OptionDescriptions;
  PageOptions: PageOptions;
  ParameterDescription: ParameterDescription;
  PartRestDecorator: PartRestDecorator<Method>;
  PartRestOptions: PartRestOptions;
  PopulateOptions: PopulateOptions;
  PreFetch: PreFetch;
  PropOptions: PropOptions<string>;
  QueryForOptions: QueryForOptions;
  QueryLimits: QueryLimits;
  QueryObject: QueryObject;
  ReadOnly: ReadOnly<string>;
  ReadOptions: ReadOptions;
  Ref: Ref<mod.FrameworkModel>;
  RequestTrace: RequestTrace;
  RestDecorator: RestDecorator<Method>;
  RestErrorOptions: RestErrorOptions;
  RestOptions: RestOptions;
  Restricted: Restricted<string>;
  RouteDescription: RouteDescription;
  SearchOptions: SearchOptions;
  Stamp: Stamp;
  StandardSchema: StandardSchema;
  StatementTrace: StatementTrace;
  Tidied: Tidied;
  TidyOptions: TidyOptions;
  TrashOptions: TrashOptions;
  UnnamedModel: UnnamedModel;
  Validator: Validator<string>;
  ValueDescription: ValueDescription;
  WriteDescription: WriteDescription;
  WriteOptions: WriteOptions;
}

Deno.test("mod.ts exports the public values, and no other", () => {
  assertEquals(Object.keys(mod).sort(), VALUES);
  const { FrameworkModel: _, Framework, ...functions } = mod;
  for (const [name, value] of Object.entries(functions)) {
    assertEquals([name, typeof value], [name, "function"]);
  }
  assertEquals(Object.keys(Framework).sort(), [
    "close",
    "describe",
    "errors",
    "health",
    "initialize",
    "queryFor",
    "tidy",
  ]);
});

const TYPES: Record<keyof Types, true> = {
  Action: true,
  ActionTarget: true,
  Actor: true,
  ArrayFeatures: true,
  ArrayPropOptions: true,
  BatchOptions: true,
  BodyLimits: true,
  BytesDescription: true,
  ClassFeatures: true,
  CloseOptions: true,
  CountOptions: true,
  DataType: true,
  DateUnit: true,
  DefineOptions: true,
  Duration: true,
  Entity: true,
  EntityHook: true,
  ErrorContext: true,
  ErrorDescription: true,
  ErrorsOptions: true,
  Fetch: true,
  FieldDecorator: true,
  FieldDescription: true,
  FieldFeatures: true,
  FieldOptions: true,
  FieldRule: true,
  FileDescription: true,
  FilterDescription: true,
  FilterPath: true,
  FrameworkRequest: true,
  FrameworkRouter: true,
  FrameworkState: true,
  GroupsOptions: true,
  GuardRequest: true,
  HeaderDescription: true,
  Health: true,
  Hidden: true,
  HistoryOptions: true,
  HookName: true,
  Hooks: true,
  HooksOf: true,
  IdempotencyOptions: true,
  Identifier: true,
  InitializeOptions: true,
  LeanHooksOf: true,
  LifecycleOptions: true,
  ListFormat: true,
  ListOnDelete: true,
  LiveDescription: true,
  LiveLimits: true,
  LiveOptions: true,
  Method: true,
  ModelClass: true,
  ModelOf: true,
  ModelQuery: true,
  OnDelete: true,
  OperationName: true,
  OperationOptions: true,
  OperationWords: true,
  OptionDescriptions: true,
  PageOptions: true,
  ParameterDescription: true,
  PartRestDecorator: true,
  PartRestOptions: true,
  PopulateOptions: true,
  PreFetch: true,
  PropOptions: true,
  QueryForOptions: true,
  QueryLimits: true,
  QueryObject: true,
  ReadOnly: true,
  ReadOptions: true,
  Ref: true,
  RequestTrace: true,
  RestDecorator: true,
  RestErrorOptions: true,
  RestOptions: true,
  Restricted: true,
  RouteDescription: true,
  SearchOptions: true,
  Stamp: true,
  StandardSchema: true,
  StatementTrace: true,
  Tidied: true,
  TidyOptions: true,
  TrashOptions: true,
  UnnamedModel: true,
  Validator: true,
  ValueDescription: true,
  WriteDescription: true,
  WriteOptions: true,
};

Deno.test("mod.ts exports the public types by name, and no other", async () => {
  const text = await Deno.readTextFile(new URL("../../mod.ts", import.meta.url));
  const code = text.replace(/\/\*[^]*?\*\//g, "");
  const lists = [...code.matchAll(/export type \{([^}]*)\}/g)].map(([, names = ""]) => names);
  const names = lists.join().split(",").map((name) => name.trim()).filter(Boolean).sort();
  assertEquals(names, Object.keys(TYPES));
});

Deno.test("mod.ts names every export: no `export *`, no default", async () => {
  const text = await Deno.readTextFile(new URL("../../mod.ts", import.meta.url));
  assertEquals(/^export (\*|default)/m.test(text), false);
});

Deno.test("FrameworkModel is abstract to the compiler, and RestError is an Error", () => {
  // @ts-expect-error the base class is no model
  const base: mod.FrameworkModel = new mod.FrameworkModel();
  assertEquals(Object.keys(base), []);
  const error: Error = new mod.RestError(404, "x");
  assertEquals([error.name, error.message, error instanceof Error], ["RestError", "x", true]);
  assertThrows(() => new mod.RestError(200, "x"), RangeError);
});

Deno.test("the operation functions give the six operations, each with a copy of its hooks", () => {
  const { all, one, create, update, remove, removeAll } = mod;
  const hooks = { preFetch: () => true };
  const made = [all, one, create, update, remove, removeAll].map((method) => method(hooks));
  assertEquals(made.map(({ operation }) => operation), [
    ...["all", "one", "create", "update", "remove", "removeAll"] as const,
  ]);
  for (const method of made) {
    assertEquals(method.hooks, hooks);
    assertEquals(Object.is(method.hooks, hooks), false);
  }
  assertEquals(all().hooks, {});
});
