import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import settings from "../../deno.json" with { type: "json" };
import { createApp } from "./mod.ts";
import { filesOf, packageSettings } from "./template.ts";
import { PACKAGES } from "../../tests/tools/support/login_app.ts";

Deno.test("a new application gets this version of the package, and what it works with", () => {
  const { "deno.json": made = "" } = filesOf("app", { runtime: "deno" });
  assertStringIncludes(made, `"jsr:@mongrove/mongrove@^${settings.version}"`);
  assertStringIncludes(made, `"${settings.imports.mongoose}"`);
  assertStringIncludes(made, `"${settings.imports.express}"`);
});

/** The first versions without a known weakness. */
const FLOORS = { "better-auth": [1, 6, 22], "swagger-ui-dist": [5, 32, 7] } as const;

Deno.test("no range lets in a version with a known weakness", () => {
  const { "deno.json": made = "{}" } = filesOf("app", { runtime: "deno", login: true });
  const { dependencies } = packageSettings({ login: true });
  const ranges = { ...settings.imports, ...PACKAGES };
  for (const known of [ranges, JSON.parse(made).imports, dependencies]) {
    for (const [name, floor] of Object.entries(FLOORS)) {
      const [, first = ""] = /\^([\d.]+)$/.exec(known[name]) ?? [];
      const [major, minor = 0, patch = 0] = first.split(".").map(Number);
      const isSafe = major === floor[0] &&
        (minor > floor[1] || minor === floor[1] && patch >= floor[2]);
      assert(isSafe, `${name}: ${known[name]}`);
    }
  }
});

Deno.test("createApp() keeps what a package.json has, but for the script that npm init writes", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "package.json");
  const scripts = { test: 'echo "Error: no test specified" && exit 1', start: "node mine.js" };
  await Deno.writeTextFile(path, JSON.stringify({ name: "mine", type: "commonjs", scripts }));
  await createApp(folder, { runtime: "node" });
  const made = JSON.parse(await Deno.readTextFile(path));
  assertEquals([made.name, made.type, made.scripts.start], ["mine", "module", "node mine.js"]);
  assertEquals(made.scripts.test, "tsx --test *.test.ts");
  assertEquals(made.engines, { node: ">=22" });
  await Deno.remove(folder, { recursive: true });
});

Deno.test("createApp() refuses a package.json that is no JSON object, and writes nothing", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "package.json");
  for (const text of ["", "null", "[]", "{ // mine\n}"]) {
    await Deno.writeTextFile(path, text);
    await assertRejects(
      () => createApp(folder, { runtime: "node" }),
      Error,
      "Cannot make an application: package.json is no JSON object",
    );
  }
  assertEquals((await Array.fromAsync(Deno.readDir(folder))).length, 1);
  await Deno.writeTextFile(path, '\ufeff{ "name": "mine" }');
  await createApp(folder, { runtime: "node" });
  assertEquals(JSON.parse(await Deno.readTextFile(path)).name, "mine");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("createApp() makes an application for Node alone, whose model has no decorators", async () => {
  const folder = await Deno.makeTempDir();
  await createApp(folder, { runtime: "node", plain: true });
  const read = (name: string) => Deno.readTextFile(join(folder, name));
  const { scripts, engines, dependencies, devDependencies } = JSON.parse(
    await read("package.json"),
  );
  const checks = { check: "tsc", lint: "eslint ." };
  assertEquals(scripts, { start: "node main.ts", test: "node --test *.test.ts", ...checks });
  assertEquals(engines, { node: ">=22.18" });
  assert(!("tsx" in { ...dependencies, ...devDependencies }));
  assert(JSON.parse(await read("tsconfig.json")).compilerOptions.erasableSyntaxOnly);
  const model = await read("todo.ts");
  assertStringIncludes(model, "define(Todo, {");
  assert(!model.includes("@prop"));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("both forms of the model of a new application declare the same", async () => {
  const folder = await Deno.makeTempDir();
  const routes = await Promise.all([false, true].map(async (plain) => {
    const { "todo.ts": text = "" } = filesOf("app", { runtime: "deno", plain });
    const path = join(folder, `${plain}.ts`);
    const mod = new URL("../../mod.ts", import.meta.url).href;
    await Deno.writeTextFile(path, text.replaceAll("@mongrove/mongrove", mod));
    const script = `import { Todo } from "${path}"; import { Framework } from "${mod}";
console.log(JSON.stringify(Framework.describe({ models: [Todo] })));`;
    await Deno.writeTextFile(`${path}.main.ts`, script);
    const config = new URL("../../deno.json", import.meta.url).pathname;
    const args = ["run", "-A", "--no-check", "--no-lock", `--config=${config}`, `${path}.main.ts`];
    const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
    return JSON.parse(new TextDecoder().decode(stdout));
  }));
  assertEquals(routes[0], routes[1]);
  assertEquals(routes[0].length, 5);
  await Deno.remove(folder, { recursive: true });
});
