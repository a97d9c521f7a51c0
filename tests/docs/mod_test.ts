import { assertEquals, assertThrows } from "@std/assert";
import * as mod from "../../mod.ts";
import type {
  Action,
  Actor,
  DateOnly,
  Defaulted,
  Entity,
  EntityHook,
  ErrorContext,
  FieldDecorator,
  FieldRule,
  FrameworkRequest,
  FrameworkRouter,
  FrameworkState,
  GuardRequest,
  Health,
  Hidden,
  Hooks,
  HooksOf,
  InitializeOptions,
  LeanHooksOf,
  Limits,
  Method,
  ModelClass,
  ModelOf,
  ModelQuery,
  PreFetch,
  PropOptions,
  QueryObject,
  ReadOnly,
  Ref,
  RequestTrace,
  RestOptions,
  Restricted,
  RouteDescription,
  StandardSchema,
  StatementTrace,
  Tidied,
  UnnamedModel,
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
  Actor: Actor;
  DateOnly: DateOnly;
  Defaulted: Defaulted<string>;
  Entity: Entity<mod.FrameworkModel>;
  EntityHook: EntityHook<object>;
  ErrorContext: ErrorContext;
  FieldDecorator: FieldDecorator<string>;
  FieldRule: FieldRule;
  FrameworkRequest: FrameworkRequest;
  FrameworkRouter: FrameworkRouter;
  FrameworkState: FrameworkState;
  GuardRequest: GuardRequest;
  Health: Health;
  Hidden: Hidden<string>;
  Hooks: Hooks<object>;
  HooksOf: HooksOf<mod.FrameworkModel>;
  InitializeOptions: InitializeOptions;
  LeanHooksOf: LeanHooksOf<mod.FrameworkModel>;
  Limits: Limits;
  Method: Method;
  ModelClass: ModelClass;
  ModelOf: ModelOf<ModelClass>;
  ModelQuery: ModelQuery<mod.FrameworkModel>;
  PreFetch: PreFetch;
  PropOptions: PropOptions<string>;
  QueryObject: QueryObject;
  ReadOnly: ReadOnly<string>;
  Ref: Ref<mod.FrameworkModel>;
  RequestTrace: RequestTrace;
  RestOptions: RestOptions;
  Restricted: Restricted<string>;
  RouteDescription: RouteDescription;
  StandardSchema: StandardSchema;
  StatementTrace: StatementTrace;
  Tidied: Tidied;
  UnnamedModel: UnnamedModel;
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
  Actor: true,
  DateOnly: true,
  Defaulted: true,
  Entity: true,
  EntityHook: true,
  ErrorContext: true,
  FieldDecorator: true,
  FieldRule: true,
  FrameworkRequest: true,
  FrameworkRouter: true,
  FrameworkState: true,
  GuardRequest: true,
  Health: true,
  Hidden: true,
  Hooks: true,
  HooksOf: true,
  InitializeOptions: true,
  LeanHooksOf: true,
  Limits: true,
  Method: true,
  ModelClass: true,
  ModelOf: true,
  ModelQuery: true,
  PreFetch: true,
  PropOptions: true,
  QueryObject: true,
  ReadOnly: true,
  Ref: true,
  RequestTrace: true,
  RestOptions: true,
  Restricted: true,
  RouteDescription: true,
  StandardSchema: true,
  StatementTrace: true,
  Tidied: true,
  UnnamedModel: true,
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
