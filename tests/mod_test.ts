import { assertEquals, assertThrows } from "@std/assert";
import * as mod from "../mod.ts";
import type {
  Accepts,
  AcceptsPart,
  AnyHooks,
  ArrayPropOptions,
  BaseOptions,
  BodyLimits,
  Bound,
  CloseOptions,
  CountOptions,
  DocumentHook,
  Entity,
  EntityHook,
  EntityOf,
  ErrorContext,
  ErrorDescription,
  Fetch,
  FieldDecorator,
  FieldDescription,
  FieldOptions,
  FieldType,
  FieldWords,
  FilterDescription,
  FilterPath,
  FrameworkRequest,
  FrameworkRouter,
  FrameworkState,
  HeaderDescription,
  Hidden,
  HookName,
  Hooks,
  HooksOf,
  Identifier,
  InitializeOptions,
  InstanceHook,
  JsonForm,
  LeanHooksOf,
  Literal,
  MaybePromise,
  Method,
  MethodFunction,
  ModelClass,
  ModelIn,
  ModelOf,
  ModelOrThunk,
  MongooseType,
  MongooseValues,
  OperationName,
  OperationOptions,
  OperationWords,
  PageOptions,
  ParameterDescription,
  PartRestDecorator,
  PartRestOptions,
  PopulateFields,
  PopulateOptions,
  PreFetch,
  PreFetchHook,
  PropOptions,
  QueryLimits,
  QueryObject,
  ReadOnly,
  ReadOptions,
  Ref,
  RequestHooks,
  RequestOf,
  RestDecorator,
  RestErrorOptions,
  RestOptions,
  Returns,
  RouteDescription,
  SearchOptions,
  Selected,
  SelectOptions,
  StandardIssue,
  StandardResult,
  StandardSchema,
  Together,
  UnnamedModel,
  Validator,
  ValueDescription,
  ValueOf,
  Widen,
} from "../mod.ts";

/** The values that the package exports: the names of the reference, and `getModel`. */
const VALUES = [
  "Framework",
  "FrameworkModel",
  "RestError",
  "all",
  "and",
  "arrayProp",
  "asFilter",
  "create",
  "getModel",
  "one",
  "or",
  "prop",
  "remove",
  "removeAll",
  "rest",
  "update",
];

/** The types that the package exports: each one is used, so that a missing one does not compile. */
interface Types {
  Accepts: Accepts<mod.FrameworkModel, Method>;
  AcceptsPart: AcceptsPart<string, Method>;
  AnyHooks: AnyHooks;
  ArrayPropOptions: ArrayPropOptions<string, StringConstructor>;
  BaseOptions: BaseOptions;
  BodyLimits: BodyLimits;
  Bound: Bound<number>;
  CloseOptions: CloseOptions;
  CountOptions: CountOptions;
  DocumentHook: DocumentHook<"", mod.FrameworkModel>;
  Entity: Entity<mod.FrameworkModel>;
  EntityHook: EntityHook<object>;
  EntityOf: EntityOf<EntityHook<object>>;
  ErrorContext: ErrorContext;
  ErrorDescription: ErrorDescription;
  Fetch: Fetch;
  FieldDecorator: FieldDecorator<string>;
  FieldDescription: FieldDescription;
  FieldOptions: FieldOptions<string>;
  FieldType: FieldType;
  FieldWords: FieldWords;
  FilterDescription: FilterDescription;
  FilterPath: FilterPath;
  FrameworkRequest: FrameworkRequest;
  FrameworkRouter: FrameworkRouter;
  FrameworkState: FrameworkState;
  HeaderDescription: HeaderDescription;
  Hidden: Hidden<string>;
  HookName: HookName;
  Hooks: Hooks<object>;
  HooksOf: HooksOf<mod.FrameworkModel>;
  Identifier: Identifier;
  InitializeOptions: InitializeOptions;
  InstanceHook: InstanceHook<"", mod.FrameworkModel>;
  JsonForm: JsonForm<Date>;
  LeanHooksOf: LeanHooksOf<mod.FrameworkModel>;
  Literal: Literal;
  MaybePromise: MaybePromise<string>;
  Method: Method;
  MethodFunction: MethodFunction;
  ModelClass: ModelClass;
  ModelIn: ModelIn<string>;
  ModelOf: ModelOf<ModelClass>;
  ModelOrThunk: ModelOrThunk<mod.FrameworkModel>;
  MongooseType: MongooseType;
  MongooseValues: MongooseValues;
  OperationName: OperationName;
  OperationOptions: OperationOptions;
  OperationWords: OperationWords;
  PageOptions: PageOptions;
  ParameterDescription: ParameterDescription;
  PartRestDecorator: PartRestDecorator<Method>;
  PartRestOptions: PartRestOptions;
  PopulateFields: PopulateFields<mod.FrameworkModel>;
  PopulateOptions: PopulateOptions;
  PreFetch: PreFetch;
  PreFetchHook: PreFetchHook<"", mod.FrameworkModel>;
  PropOptions: PropOptions<string>;
  QueryLimits: QueryLimits;
  QueryObject: QueryObject;
  ReadOnly: ReadOnly<string>;
  ReadOptions: ReadOptions;
  Ref: Ref<mod.FrameworkModel>;
  RequestHooks: RequestHooks<mod.FrameworkModel, AnyHooks>;
  RequestOf: RequestOf<PreFetch>;
  RestDecorator: RestDecorator<Method>;
  RestErrorOptions: RestErrorOptions;
  RestOptions: RestOptions;
  Returns: Returns<"", string>;
  RouteDescription: RouteDescription;
  SearchOptions: SearchOptions;
  SelectOptions: SelectOptions;
  Selected: Selected<mod.FrameworkModel>;
  StandardIssue: StandardIssue;
  StandardResult: StandardResult;
  StandardSchema: StandardSchema;
  Together: Together<(each: string) => void>;
  UnnamedModel: UnnamedModel;
  Validator: Validator<string>;
  ValueDescription: ValueDescription;
  ValueOf: ValueOf<StringConstructor>;
  Widen: Widen<5>;
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
    "initialize",
    "select",
  ]);
});

const TYPES: Record<keyof Types, true> = {
  Accepts: true,
  AcceptsPart: true,
  AnyHooks: true,
  ArrayPropOptions: true,
  BaseOptions: true,
  BodyLimits: true,
  Bound: true,
  CloseOptions: true,
  CountOptions: true,
  DocumentHook: true,
  Entity: true,
  EntityHook: true,
  EntityOf: true,
  ErrorContext: true,
  ErrorDescription: true,
  Fetch: true,
  FieldDecorator: true,
  FieldDescription: true,
  FieldOptions: true,
  FieldType: true,
  FieldWords: true,
  FilterDescription: true,
  FilterPath: true,
  FrameworkRequest: true,
  FrameworkRouter: true,
  FrameworkState: true,
  HeaderDescription: true,
  Hidden: true,
  HookName: true,
  Hooks: true,
  HooksOf: true,
  Identifier: true,
  InitializeOptions: true,
  InstanceHook: true,
  JsonForm: true,
  LeanHooksOf: true,
  Literal: true,
  MaybePromise: true,
  Method: true,
  MethodFunction: true,
  ModelClass: true,
  ModelIn: true,
  ModelOf: true,
  ModelOrThunk: true,
  MongooseType: true,
  MongooseValues: true,
  OperationName: true,
  OperationOptions: true,
  OperationWords: true,
  PageOptions: true,
  ParameterDescription: true,
  PartRestDecorator: true,
  PartRestOptions: true,
  PopulateFields: true,
  PopulateOptions: true,
  PreFetch: true,
  PreFetchHook: true,
  PropOptions: true,
  QueryLimits: true,
  QueryObject: true,
  ReadOnly: true,
  ReadOptions: true,
  Ref: true,
  RequestHooks: true,
  RequestOf: true,
  RestDecorator: true,
  RestErrorOptions: true,
  RestOptions: true,
  Returns: true,
  RouteDescription: true,
  SearchOptions: true,
  SelectOptions: true,
  Selected: true,
  StandardIssue: true,
  StandardResult: true,
  StandardSchema: true,
  Together: true,
  UnnamedModel: true,
  Validator: true,
  ValueDescription: true,
  ValueOf: true,
  Widen: true,
};

Deno.test("mod.ts exports the public types by name, and no other", async () => {
  const text = await Deno.readTextFile(new URL("../mod.ts", import.meta.url));
  const code = text.replace(/\/\*[^]*?\*\//g, "");
  const lists = [...code.matchAll(/export type \{([^}]*)\}/g)].map(([, names = ""]) => names);
  const names = lists.join().split(",").map((name) => name.trim()).filter(Boolean).sort();
  assertEquals(names, Object.keys(TYPES));
});

Deno.test("mod.ts names every export: no `export *`, no default", async () => {
  const text = await Deno.readTextFile(new URL("../mod.ts", import.meta.url));
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
