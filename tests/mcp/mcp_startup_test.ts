import { assertEquals, assertThrows } from "@std/assert";
import { action, all, create, Framework, FrameworkModel, one, prop, rest } from "../../mod.ts";
import { removeAll, update } from "../../mod.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import type { Exposure, McpOptions } from "@mongrove/mongrove/mcp";

const ring = action("ring", { on: "one", run: (_req: unknown, bell: object) => bell });

@rest({ route: "/bells", methods: [all(), one(), create(), removeAll(), ring] })
class Bell extends FrameworkModel {
  @prop()
  tone?: string;
}

@rest({ route: "/horns", methods: [all(), one()] })
@rest({ route: "/old/horns/", methods: [one()] })
class Horn extends FrameworkModel {}

@rest({ route: "/:hall/organs", methods: [all(), one()] })
class Organ extends FrameworkModel {}

@rest({ route: "/gongs", methods: [all({ fetch: () => [] }), one()] })
class Gong extends FrameworkModel {}

@rest({ route: "/drums", methods: [update()] })
class Drum extends FrameworkModel {}

class Flute extends FrameworkModel {}

const api = Framework.initialize({ models: [Bell, Horn, Organ, Gong, Drum] });

function refused(options: unknown, message: string): void {
  assertThrows(() => mcp(api, options as McpOptions), TypeError, message);
}

const exposing = (exposure: Record<string, unknown>) => ({
  expose: [{ model: Bell, ...exposure }],
});

Deno.test("mcp() refuses what is not the router of an API", () => {
  for (const wrong of [undefined, {}, () => {}, { models: [Bell] }]) {
    assertThrows(
      () => mcp(wrong as typeof api, { expose: [{ model: Bell }] }),
      TypeError,
      "Cannot serve assistants: mcp() takes the router of Framework.initialize()",
    );
  }
});

Deno.test("mcp() refuses operations that assistants never get", () => {
  const known = 'assistants get all, one, create, update, and what "actions" lists';
  for (const name of ["remove", "removeAll", "updateAll", "replace", "ring", "toString"]) {
    refused(
      exposing({ operations: ["all", name] }),
      `Cannot serve assistants: "Bell" cannot expose ${name}(): ${known}`,
    );
  }
});

Deno.test("mcp() refuses what the model's @rest does not have", () => {
  refused(exposing({ operations: ["update"] }), `"Bell" exposes update(), which its @rest does`);
  refused(
    exposing({ actions: ["sing"] }),
    `"Bell" exposes action "sing", which its @rest does not`,
  );
  refused(exposing({ actions: ["all"] }), `"Bell" exposes action "all", which its @rest does not`);
  refused({ expose: [{ model: Flute }] }, `"Flute" is not served by this router`);
  refused({ expose: [{ model: Drum }] }, `"Drum" exposes nothing`);
  refused(exposing({ operations: [] }), `"Bell" exposes nothing`);
});

Deno.test("mcp() has to know which route it is about", () => {
  const horn = (exposure: object) => ({ expose: [{ model: Horn, ...exposure }] });
  refused(horn({}), `"Horn" is served at "/horns", "/old/horns": name one as "route"`);
  refused(horn({ route: "/x" }), `"Horn" has no route "/x", but "/horns", "/old/horns"`);
  const parameters = "tools cannot fill parameters of paths";
  refused({ expose: [{ model: Organ }] }, `"Organ" is served at "/:hall/organs": ${parameters}`);
  const twice = [{ model: Horn, route: "/horns" }, { model: Horn, route: "/old/horns" }];
  refused({ expose: twice }, `"Horn" is exposed twice: give one of them another "name"`);
});

Deno.test("mcp() refuses a list that cannot have pages", () => {
  refused(
    { expose: [{ model: Gong }] },
    `"Gong" exposes all(), which has no "page" and cannot get one: Cannot mount "Gong": all() has its own "fetch"`,
  );
  mcp(api, { expose: [{ model: Gong, operations: ["one"] }] });
});

Deno.test("mcp() refuses wrong options", () => {
  refused(undefined, "the options are not an object");
  refused({}, `"expose" is not a list of models`);
  refused({ expose: [] }, `"expose" is not a list of models`);
  refused({ expose: [Bell] }, `"expose" holds something without a model class as "model"`);
  refused({ expose: [{ model: "Bell" }] }, `"expose" holds something without a model class`);
  refused({ ...exposing({}), origin: [] }, `there is no option "origin" (did you mean "origins"?)`);
  refused({ ...exposing({}), origins: "x" }, `"origins" is not a list of texts`);
  refused({ ...exposing({}), info: {} }, `"info" is not an object with a "name" and a "version"`);
  refused(exposing({ operation: ["all"] }), `"Bell" has an unknown option "operation"`);
  refused(exposing({ operations: "all" }), `"Bell" needs lists of texts`);
  refused(exposing({ actions: [ring] }), `"Bell" needs lists of texts`);
  refused(exposing({ name: "" }), `"Bell" needs a text as "name"`);
});

Deno.test("mcp() leaves its options as they are", () => {
  const options = Object.freeze({
    expose: Object.freeze([Object.freeze({ model: Bell, actions: Object.freeze(["ring"]) })]),
  });
  mcp(api, options);
  assertEquals(Object.keys(options), ["expose"]);
});

Deno.test("the compiler knows the operations that assistants can get", () => {
  const exposure: Exposure = { model: Bell, operations: ["all", "create"], actions: ["ring"] };
  // @ts-expect-error Assistants remove nothing
  const wrong: Exposure = { model: Bell, operations: ["removeAll"] };
  assertEquals([exposure, wrong].length, 2);
});
