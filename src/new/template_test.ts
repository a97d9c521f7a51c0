import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { join } from "node:path";
import settings from "../../deno.json" with { type: "json" };
import { createApp } from "./mod.ts";
import { filesOf, packageSettings } from "./template.ts";
import { openDatabase } from "../../tests/harness/database.ts";
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
  assertEquals(made.scripts.test, "node --import tsx --test *.test.ts");
  assertEquals(made.engines, { node: ">=22" });
  await Deno.remove(folder, { recursive: true });
});

Deno.test("Git ignores what a new application must not have in its repository", async () => {
  const cases = [
    [{ runtime: "node" }, undefined, "node_modules/\n"],
    [{ runtime: "node", login: true }, "dist", "dist\nnode_modules/\n.auth_secret\n"],
    [{ runtime: "deno", login: true }, "\n.auth_secret\r\n", "\n.auth_secret\r\n"],
    [{ runtime: "deno", login: true }, undefined, ".auth_secret\n"],
  ] as const;
  for (const [options, given, expected] of cases) {
    const folder = await Deno.makeTempDir();
    const path = join(folder, ".gitignore");
    if (given !== undefined) await Deno.writeTextFile(path, given);
    await createApp(folder, options);
    assertEquals(await Deno.readTextFile(path), expected);
    await Deno.remove(folder, { recursive: true });
  }
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
  const starts = { start: "node main.ts", dev: "node --watch main.ts" };
  assertEquals(scripts, { ...starts, test: "node --test *.test.ts", ...checks });
  assertEquals(engines, { node: ">=22.18" });
  assert(!("tsx" in { ...dependencies, ...devDependencies }));
  assert(JSON.parse(await read("tsconfig.json")).compilerOptions.erasableSyntaxOnly);
  const model = await read("todo.ts");
  assertStringIncludes(model, "define(Todo, {");
  assert(!model.includes("@prop"));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("README.md names the files to change for another model than Todo", () => {
  for (const login of [false, true]) {
    const { "README.md": text = "", ...files } = filesOf("app", { runtime: "deno", login });
    const [, paragraph = ""] = /\n\n(In the place of `Todo`[^]*?)\n\n/.exec(text) ?? [];
    const named = [...paragraph.matchAll(/`(\w[\w.]*\.ts)`/g)].map(([, name]) => name);
    const places = Object.keys(files).filter((name) => /todo/i.test(files[name] ?? ""));
    assertEquals(named.toSorted(), places.toSorted());
  }
});

/** Writes the models of a new application and an `invitation.ts` that sends no mails, and returns their routes. */
async function describeModels(kind: { plain: boolean; login: boolean }): Promise<unknown[]> {
  const folder = await Deno.makeTempDir();
  const mod = new URL("../../mod.ts", import.meta.url).href;
  const files = Object.entries(filesOf("app", { runtime: "deno", ...kind }))
    .filter(([name]) => ["todo.ts", "user.ts", "invitation.ts"].includes(name));
  for (const [name, text] of files) {
    await Deno.writeTextFile(join(folder, name), text.replaceAll("@mongrove/mongrove", mod));
  }
  await Deno.writeTextFile(join(folder, "mail.ts"), "export const appUrl = 0, mail = 0;");
  const script = `import { Framework, FrameworkModel } from "${mod}";
const modules = await Promise.all(${JSON.stringify(files.map(([name]) => `./${name}`))}
  .map((name) => import(name)));
const models = modules.flatMap(Object.values).filter((each) => each.prototype instanceof FrameworkModel);
const tenant = ${kind.login} ? { tenant: () => "acme" } : {};
console.log(JSON.stringify(Framework.describe({ models, ...tenant })));`;
  await Deno.writeTextFile(join(folder, "main.ts"), script);
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const args = ["run", "-A", "--no-check", "--no-lock", `--config=${config}`, "main.ts"];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: folder })
    .output();
  await Deno.remove(folder, { recursive: true });
  const output = new TextDecoder().decode(stdout);
  assert(output !== "", new TextDecoder().decode(stderr));
  return JSON.parse(output);
}

Deno.test("both forms of the models of a new application declare the same", async () => {
  for (const [login, count] of [[false, 5], [true, 14]] as const) {
    const routes = await describeModels({ plain: false, login });
    assertEquals(await describeModels({ plain: true, login }), routes);
    assertEquals(routes.length, count);
  }
});

const KINDS = [[false, false], [true, false], [false, true], [true, true]] as const;

Deno.test("the files of a new application have the format of deno fmt at 100 columns", async () => {
  for (const runtime of ["deno", "node"] as const) {
    for (const [plain, login] of KINDS) {
      const folder = await Deno.makeTempDir();
      await createApp(folder, { runtime, plain, login });
      const args = ["fmt", "--check", "--no-config", "--line-width=100", "."];
      const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: folder })
        .output();
      assert(success, new TextDecoder().decode(stderr));
      await Deno.remove(folder, { recursive: true });
    }
  }
});

Deno.test("all kinds of a new application have the same tasks, packages and compiler options", () => {
  const keys = (object: object) => Object.keys(object).sort();
  const own = new Set(["make-admin", "tsx", "better-auth", "express-rate-limit", "nodemailer"]);
  const kinds = [{}, { plain: true }, { login: true }].map((kind) => {
    const { scripts, dependencies, devDependencies, ...others } = packageSettings(kind);
    const { "deno.json": config = "{}" } = filesOf("app", { runtime: "deno", ...kind });
    const { tasks, imports, fmt } = JSON.parse(config);
    return [scripts, dependencies, devDependencies, others, tasks, imports, fmt]
      .map((each) => keys(each).filter((key) => !own.has(key)));
  });
  for (const kind of kinds) assertEquals(kind, kinds[0]);
});

/** Runs a file of a new application, or the program that writes it. */
async function runFile(file: string, args: readonly string[], env: Record<string, string> = {}) {
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const all = ["run", "-A", "--no-check", "--no-lock", `--config=${config}`, file, ...args];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: all, env })
    .output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

Deno.test("new --help shows the usage", async () => {
  const { code, out } = await runFile(new URL("mod.ts", import.meta.url).pathname, ["--help"]);
  assertEquals([code, out.split("\n", 1)[0]], [
    0,
    "Usage: new [folder] [--plain] [--login] [--from[=uri] [--write]]",
  ]);
});

/** Writes the start files of a new application, whose other files do nothing. */
async function writeStart(): Promise<string> {
  const folder = await Deno.makeTempDir();
  const mod = new URL("../../mod.ts", import.meta.url).href;
  const made = filesOf("app", { runtime: "deno", login: true });
  const files = {
    "main.ts": made["main.ts"] ?? "",
    "make_admin.ts": made["make_admin.ts"] ?? "",
    "app.ts": `import express from "express";\nexport const buildApp = () => express();`,
    "invitation.ts": "export const Invitation = 0, linkOf = 0, newLink = 0;",
    "user.ts": "export const User = 0;",
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(join(folder, name), text.replaceAll("@mongrove/mongrove", mod));
  }
  return folder;
}

Deno.test("a start without what it needs is one line, without the password of the database", async () => {
  const folder = await writeStart();
  const away = { MONGODB_URI: "mongodb://ann:secret@127.0.0.1:1/todos" };
  const noMongo = /^No MongoDB at mongodb:\/\/127\.0\.0\.1:1\/todos: see README\.md \(.+\)\n$/;
  const usage = /^Usage: make-admin boss@acme\.example \[organisation\]\n$/;
  await using database = await openDatabase();
  using taken = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const busy = { MONGODB_URI: database.uri, PORT: String(taken.addr.port) };
  const cases = [
    ["main.ts", [], away, noMongo],
    ["make_admin.ts", ["boss@acme.example"], away, noMongo],
    ["make_admin.ts", [], {}, usage],
    ["main.ts", [], busy, /^Cannot listen: .*address.+in use.*\n$/i],
  ] as const;
  await Promise.all(cases.map(async ([file, args, env, expected]) => {
    const { code, out, err } = await runFile(join(folder, file), args, env);
    assertEquals([code, out], [1, ""], err);
    assertMatch(err, expected);
  }));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("the name of the folder is the name of the application", () => {
  const names = { "my-app": "My app", 'a"b\\$&': 'A"b\\$&', "": "App", shop: "Shop" };
  for (const [folder, expected] of Object.entries(names)) {
    for (const login of [false, true]) {
      const files = filesOf(folder, { runtime: "deno", login });
      const text = files[login ? "page.ts" : "app.ts"] ?? "";
      assertStringIncludes(text, `const APP_NAME = ${JSON.stringify(expected)};`);
    }
  }
});
