import { assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import type {
  Admission,
  Plugin,
  PluginCall,
  PluginRequest,
  PluginRouteRequest,
  PluginWrite,
} from "../../src/plugin/mod.ts";
import * as plugin from "../../src/plugin/mod.ts";
import { expect, type Same } from "../support/same_type.ts";

test("pieces of plugins get only what clients may name", () => {
  expect<
    Same<
      keyof Plugin,
      | ("name" | "start" | "admit" | "parameters" | "values" | "around" | "deprecated")
      | ("routes" | "jobs" | "securitySchemes")
    >
  >();
  expect<Same<keyof Admission, "via" | "signsIn" | "renew">>();
  expect<
    Same<
      keyof PluginCall,
      | ("name" | "model" | "operation" | "method" | "path" | "req" | "needs" | "purpose")
      | ("actor" | "tenant" | "via" | "parameter" | "setHeader")
    >
  >();
  expect<Same<keyof PluginWrite, "model" | "isNew" | "actor" | "via">>();
  expect<
    Same<keyof PluginRouteRequest, "req" | "params" | "body" | "actor" | "tenant" | "setHeader">
  >();
  const secret: Extract<
    keyof PluginRequest,
    "url" | "originalUrl" | "query" | "body" | "framework"
  > = undefined as never;
  assertEquals(secret, undefined);
  // @ts-expect-error: the URL may hold secrets
  const misused: Plugin["admit"] = (req) => ({ via: req.url });
  assertEquals(typeof misused, "function");
});

test("the entry point of plugins has two values", () => {
  assertEquals(Object.keys(plugin).sort(), ["RestError", "hideHeaders"]);
});
