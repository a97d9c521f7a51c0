// Runs alone: it loads a second copy of the package.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as own from "../../mod.ts";
import { admin } from "../../src/admin/mod.ts";
import { mcp } from "../../src/mcp/mod.ts";
import { checkRegistries } from "../../src/declare/model/copies.ts";
import { openapi } from "../../src/openapi/mod.ts";
import { test } from "../harness/testing.ts";

type Copy = Pick<typeof own, "all" | "define" | "Framework" | "FrameworkModel" | "prop" | "rest">;

const ROOT = new URL("../../", import.meta.url);

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const [path, target] = [join(from, name), join(to, name)];
    if (isDirectory) await copyFolder(path, target);
    else if (!name.endsWith("_test.ts")) await Deno.copyFile(path, target);
  }
}

async function loadCopy(): Promise<Copy & { readonly url: string }> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-copy-" });
  try {
    await copyFolder(fileURLToPath(new URL("src", ROOT)), join(folder, "src"));
    await Deno.copyFile(new URL("mod.ts", ROOT), join(folder, "mod.ts"));
    const { href } = pathToFileURL(folder);
    // deno-lint-ignore mongrove/literal-import -- the copy has just been made
    return { ...await import(`${href}/mod.ts`), url: href };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const other = await loadCopy();

/** Declares a class with the base class of one copy and the decorators of another. */
function todoOf({ FrameworkModel }: Copy, { all, prop, rest }: Copy) {
  @rest({ route: "/todos", methods: [all()] })
  class Todo extends FrameworkModel {
    @prop()
    text?: string;
  }
  return Todo;
}

function embeddingOf(type: own.ModelClass) {
  @own.rest({ route: "/lists", methods: [own.all()] })
  class TodoList extends own.FrameworkModel {
    @own.prop({ type: type as never })
    first?: never;
  }
  return TodoList;
}

/** Declares a field of a class by another copy than that of its base class, and registers the class nowhere. */
function addressOf({ FrameworkModel }: Copy, { prop }: Copy) {
  class Address extends FrameworkModel {
    @prop()
    street?: string;
  }
  return Address;
}

const Todo = todoOf(other, other);

const CASES: Record<string, () => unknown> = {
  "models of another copy": () => own.Framework.initialize({ models: [Todo] }),
  "getModel() of a model of another copy": () => own.getModel(Todo),
  "decorators of another copy": () => own.Framework.initialize({ models: [todoOf(own, other)] }),
  "a base class of another copy": () => own.Framework.initialize({ models: [todoOf(other, own)] }),
  "a field of a class of another copy": () =>
    own.Framework.initialize({ models: [embeddingOf(addressOf(other, other))] }),
  "fields that another copy declares": () =>
    own.Framework.initialize({ models: [embeddingOf(addressOf(own, other))] }),
  "define() of another copy": () =>
    own.define(class Note extends other.FrameworkModel {}, { fields: {} }),
  "models that only another copy knows": () => own.Framework.initialize(),
  "a description": () => own.Framework.describe(),
  "a router of another copy for openapi()": () =>
    openapi(other.Framework.initialize({ models: [Todo] }), { info: { title: "", version: "" } }),
  "a router of another copy for admin()": () =>
    admin(other.Framework.initialize({ models: [Todo] }), { title: "T" }),
  "a router of another copy for mcp()": () =>
    mcp(other.Framework.initialize({ models: [Todo] }), { expose: [{ model: Todo }] }),
};

for (const [name, start] of Object.entries(CASES)) {
  test(`the start names both copies of the package: ${name}`, () => {
    const { message } = assertThrows(start, TypeError);
    assertStringIncludes(
      message,
      `two copies of Mongrove are loaded, ${ROOT.href.slice(0, -1)} and ${other.url}`,
    );
    assertStringIncludes(message, "import Mongrove from one place");
  });
}

test("each copy serves the models that it is given", () => {
  const models = [todoOf(own, own)];
  assertEquals(own.Framework.describe({ models }).map(({ path }) => path), ["/todos"]);
  assertEquals(other.Framework.describe({ models: [Todo] }).length, 1);
});

test("a copy that is evaluated twice is one copy", async () => {
  const key = Symbol.for("mongrove.registries");
  const registries = Reflect.get(globalThis, key);
  Reflect.set(globalThis, key, new Map());
  const { makeRegistry } = await import("../../src/declare/model/copies.ts?again");
  makeRegistry().add(Todo);
  checkRegistries();
  Reflect.set(globalThis, key, registries);
  assertThrows(checkRegistries, TypeError);
});
