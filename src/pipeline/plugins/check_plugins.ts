import type { Plugin, PluginRoute } from "../../declare/plugins/plugin.ts";
import { forAll } from "../../errors/for_all.ts";
import { isGroup, type OptionKinds, wrongOption } from "../../errors/option_kinds.ts";
import { unknownOption } from "../../errors/unknown_option.ts";

const PARTS: OptionKinds<Plugin> = {
  name: "text",
  start: "function",
  admit: "function",
  parameters: "group",
  values: "group",
  around: "function",
  deprecated: "function",
  routes: "list",
  jobs: "list",
  securitySchemes: "group",
};

const ROUTE: OptionKinds<PluginRoute> = {
  method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
  path: "text",
  operation: "text",
  summary: "text",
  body: "group",
  answer: "group",
  status: true,
  open: "boolean",
  run: "function",
};

/** A misspelled part of a plugin would do nothing. */
export function checkPlugins(
  plugins: readonly Plugin[],
  taken: ReadonlySet<string>,
): void {
  const names = new Set<string>();
  const parameters = new Set(["q", ...taken]);
  forAll(plugins, (plugin) => {
    if (!isGroup(plugin) || typeof plugin.name !== "string" || plugin.name === "") {
      throw new TypeError(`Cannot initialize: "plugins" contains something without a "name"`);
    }
    const fail = (problem: string) =>
      new TypeError(`Cannot initialize: the plugin "${plugin.name}" ${problem}`);
    checkParts(plugin, { kinds: PARTS, fail });
    if (names.has(plugin.name)) throw fail("is twice in the list");
    names.add(plugin.name);
    for (const [name, parameter] of Object.entries(plugin.parameters ?? {})) {
      if (parameters.has(name)) throw fail(`has the parameter "${name}", which is taken`);
      if (!isGroup(parameter) || typeof parameter.description !== "string") {
        throw fail(`needs a "description" of its parameter "${name}"`);
      }
      parameters.add(name);
    }
    const { values } = plugin;
    if (values && !(Array.isArray(values.fields) && typeof values.of === "function")) {
      throw fail(`needs "fields" and "of" in its "values"`);
    }
    const system = values?.fields.find((name) => name === "_id" || name === "__v");
    if (system !== undefined) throw fail(`sets "${system}", which belongs to the framework`);
    forAll(plugin.routes ?? [], (route) => checkRoute(route, fail));
    for (const { name, run } of plugin.jobs ?? []) {
      if (typeof name !== "string" || typeof run !== "function") {
        throw fail(`needs "name" and "run" in each of its "jobs"`);
      }
    }
  });
}

type Fail = (problem: string) => TypeError;

function checkRoute(route: PluginRoute, fail: Fail): void {
  const failHere = (problem: string) => fail(`${problem}, in its route ${route.path}`);
  checkParts(route, { kinds: ROUTE, fail: failHere });
  if (!/^\/[\w.~-]+(?:\/:?[\w.~-]+)*$/.test(route.path)) {
    throw failHere(`needs a path such as "/name/:id"`);
  }
  const missing = (["method", "operation", "summary", "run"] as const)
    .find((name) => route[name] === undefined);
  if (missing !== undefined) throw failHere(`needs "${missing}"`);
}

function checkParts<O extends object>(
  given: O,
  { kinds, fail }: { readonly kinds: OptionKinds<O>; readonly fail: Fail },
): void {
  const unknown = unknownOption(given, kinds);
  if (unknown !== undefined) throw fail(`has no part ${unknown}`);
  const wrong = wrongOption(given, kinds);
  if (wrong !== undefined) throw fail(`is wrong: ${wrong}`);
}
