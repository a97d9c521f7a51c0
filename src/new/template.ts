import type { FromFiles } from "./from.ts";
import { fromFiles } from "./from_template.ts";
import { loginFiles } from "./login_template.ts";
import { readme } from "./readme.ts";

const VERSIONS = {
  "@mongrove/mongrove": "^0.2.0",
  "@types/express": "^5",
  "@types/node": "^22",
  "better-auth": "^1.7",
  "eslint": "^10",
  "express": "^5",
  "express-rate-limit": "^8",
  "mongodb-memory-server": "^11",
  "mongoose": "^9.12.0",
  "nodemailer": "^10",
  "swagger-ui-dist": "^5.32.7",
  "tsx": "^4",
  "typescript": "^6",
  "typescript-eslint": "^8",
} as const;

type Package = keyof typeof VERSIONS;

const MODEL = `import { all, create, one, remove, update } from "@mongrove/mongrove";
import { FrameworkModel, prop, rest } from "@mongrove/mongrove";

/** The model. */
@rest({
  route: "/todos",
  methods: [
    all({ page: { max: 100 }, count: true, sort: ["title"] }),
    one(),
    create(),
    update(),
    remove(),
  ],
})
export class Todo extends FrameworkModel {
  @prop({ required: true, maxLength: 200, index: true })
  title!: string;

  @prop({ default: false })
  done!: boolean;
}
`;

const PLAIN_MODEL = `import { all, create, define, FrameworkModel } from "@mongrove/mongrove";
import { one, remove, update } from "@mongrove/mongrove";

/** The model. */
export class Todo extends FrameworkModel {
  title!: string;
  done!: boolean;
}
define(Todo, {
  fields: {
    title: { required: true, maxLength: 200, index: true },
    done: { default: false },
  },
  rest: {
    route: "/todos",
    methods: [
      all({ page: { max: 100 }, count: true, sort: ["title"] }),
      one(),
      create(),
      update(),
      remove(),
    ],
  },
});
`;

const APP = `import { Framework, type GuardRequest, RestError } from "@mongrove/mongrove";
import { admin } from "@mongrove/mongrove/admin";
import { openapi } from "@mongrove/mongrove/openapi";
import express, { type Express } from "express";
import process from "node:process";
import { Todo } from "./todo.ts";

const APP_NAME = "My app";

/** How /docs sends the key. */
const KEY = {
  securitySchemes: { key: { type: "apiKey", in: "header", name: "authorization" } },
  security: [{ key: [] }],
} as const;

/** Builds the application. It neither connects nor listens. Without a key, it lets nobody in. */
export function buildApp(key = process.env.API_KEY): Express {
  const app = express();
  app.use(express.json());
  const guard = ({ headers }: GuardRequest) => {
    if (key !== undefined && headers.authorization === key) return true;
    throw new RestError(401, { code: "UNAUTHENTICATED" });
  };
  const api = Framework.initialize({ models: [Todo], strict: true, guard });
  app.use(api);
  const login = { header: "authorization", label: "Key" };
  app.use("/admin", admin(api, { title: APP_NAME, login }));
  app.use(openapi(api, { info: { title: APP_NAME, version: "0.1.0" }, ...KEY }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
`;

const MAIN = `import { Framework } from "@mongrove/mongrove";
import mongoose from "mongoose";
import process from "node:process";
import { buildApp } from "./app.ts";

function fail(problem: string): never {
  console.error(problem);
  process.exit(1);
}

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/todos";
await mongoose.connect(uri, { serverSelectionTimeoutMS: 5000 }).catch(({ message }) => {
  fail(\`No MongoDB at \${uri.replace(/\\/\\/.*@/, "//")}: see README.md (\${message})\`);
});

const port = Number(process.env.PORT ?? 3000);
const server = buildApp().listen(port, "127.0.0.1", (error) => {
  if (error) fail(\`Cannot listen: \${error.message}\`);
  console.log(\`http://127.0.0.1:\${port}/admin\`);
});

// On SIGINT and SIGTERM, requests in progress are finished before the process ends.
const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
`;

const TEST = `import { serve, startMongo } from "@mongrove/mongrove/testing";
import mongoose from "mongoose";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { buildApp } from "./app.ts";

const mongo = await startMongo({ replicaSet: 1 });
await mongoose.connect(mongo.uri);
const { url, stop } = await serve(buildApp("secret"));

after(async () => {
  await stop();
  await mongoose.disconnect();
  await mongo.stop();
});

async function send(method: string, path: string, body?: object, authorization = "secret") {
  const response = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", authorization },
    body: body ? JSON.stringify(body) : null,
  });
  return { status: response.status, body: await response.json() };
}

test("a todo is created, done and found", async () => {
  const created = await send("POST", "/todos", { title: "Write a model" });
  assert.equal(created.status, 201);
  const path = \`/todos/\${created.body._id}\`;
  const done = await send("PATCH", path, { done: true });
  assert.equal(done.status, 200);
  const q = encodeURIComponent('{"done":true}');
  const found = await send("GET", \`/todos?q=\${q}\`);
  assert.deepEqual(found.body, [done.body]);
});

test("a field that is not declared is refused", async () => {
  const refused = await send("POST", "/todos", { title: "Rest", color: "red" });
  assert.equal(refused.status, 400);
  assert.deepEqual(Object.keys(refused.body.errors), ["color"]);
});

test("nobody gets in without the key", async () => {
  const refused = await send("GET", "/todos", undefined, "other");
  assert.equal(refused.status, 401);
});
`;

const LOGIN_PACKAGES = ["better-auth", "express-rate-limit", "nodemailer"] as const;

/** The file with the secret for cookies. */
export const SECRET_FILE = ".auth_secret";

function denoJson(login: boolean): string {
  const packages = ["express", "mongodb-memory-server", "mongoose", "swagger-ui-dist"] as const;
  const run = "deno run --allow-env --allow-net --allow-read --allow-sys";
  const start = run + (login ? ` --allow-write=${SECRET_FILE}` : "");
  return json({
    tasks: {
      start: `${start} main.ts`,
      dev: `${start} --watch main.ts`,
      test: "deno test --allow-all",
      check: "deno check",
      lint: `deno lint && deno run --allow-all npm:eslint@${VERSIONS.eslint} .`,
      ...login && { "make-admin": `${run} make_admin.ts` },
    },
    fmt: { lineWidth: 100 },
    imports: {
      ...versionsOf(["@mongrove/mongrove"], "jsr:"),
      ...versionsOf([...packages, ...login ? LOGIN_PACKAGES : []], "npm:"),
    },
  });
}

const COMPILER_OPTIONS = {
  target: "es2022",
  module: "nodenext",
  types: ["node"],
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
} as const;

/** Node cannot remove some syntax of TypeScript, such as enums. */
const PLAIN_OPTIONS = { erasableSyntaxOnly: true, verbatimModuleSyntax: true } as const;

export interface PackageSettings {
  readonly type: "module";
  readonly scripts: Readonly<Record<string, string>>;
  readonly scarfSettings: { readonly enabled: false };
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** tsx compiles decorators. Node itself runs files without decorators. */
export function packageSettings({ plain = false, login = false }: KindOptions): PackageSettings {
  const types = ["@types/express", "@types/node", "typescript"] as const;
  const tools = ["eslint", "mongodb-memory-server", "typescript-eslint"] as const;
  const node = plain ? "node" : "node --import tsx";
  return {
    type: "module",
    scripts: {
      start: `${node} main.ts`,
      dev: `${node} --watch main.ts`,
      test: `${node} --test *.test.ts`,
      check: "tsc",
      lint: "eslint .",
      ...login && { "make-admin": `${node} make_admin.ts` },
    },
    // A dependency of swagger-ui-dist would send statistics when it is installed.
    scarfSettings: { enabled: false },
    engines: { node: plain ? ">=22.18" : ">=22" },
    dependencies: {
      "@mongrove/mongrove": `npm:@jsr/mongrove__mongrove@${VERSIONS["@mongrove/mongrove"]}`,
      ...versionsOf(["express", "mongoose", "swagger-ui-dist", ...plain ? [] : ["tsx"] as const]),
      ...login && versionsOf(LOGIN_PACKAGES),
    },
    devDependencies: versionsOf([...types, ...tools]),
  };
}

/** ESLint finds a forgotten `await` only if it knows the types. */
function eslintConfig(parser: string): string {
  return `${parser}

// A promise is always true: a hook without "await" would let everybody in.
export default [{
  files: ["**/*.ts"],
  languageOptions: { parser, parserOptions: { projectService: true } },
  plugins: { "@typescript-eslint": plugin },
  rules: {
    "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }],
    "@typescript-eslint/no-floating-promises": ["error", {
      allowForKnownSafeCalls: [{ from: "package", name: "test", package: "node:test" }],
    }],
  },
}];
`;
}

/** An import in `deno.json` would be downloaded before each start. */
const DENO_PARSER = `// deno-lint-ignore no-import-prefix
import { parser, plugin } from "npm:typescript-eslint@${VERSIONS["typescript-eslint"]}";`;

export const NODE_FILES: Readonly<Record<string, string>> = {
  ".npmrc": "@jsr:registry=https://npm.jsr.io\n",
  "eslint.config.js": eslintConfig('import { parser, plugin } from "typescript-eslint";'),
};

interface KindOptions {
  readonly plain?: boolean;
  readonly login?: boolean;
}

export interface FilesOptions extends KindOptions {
  readonly runtime: "deno" | "node";
  readonly from?: FromFiles | undefined;
}

export function filesOf(
  name: string,
  { runtime, plain = false, login = false, from }: FilesOptions,
): Readonly<Record<string, string>> {
  const common = { "app.ts": APP, "main.ts": MAIN, "app.test.ts": TEST };
  const files = {
    ...from ? fromFiles(common, from) : { "todo.ts": plain ? PLAIN_MODEL : MODEL, ...common },
    ...login && loginFiles(plain),
    ...runtime === "deno"
      ? { "deno.json": denoJson(login), "eslint.config.js": eslintConfig(DENO_PARSER) }
      : {},
    // ESLint reads `tsconfig.json` with Deno too.
    "tsconfig.json": tsconfig({ runtime, plain, login }),
    "README.md": readme(name, {
      run: runtime === "deno" ? "deno task" : "npm run",
      login,
      route: from?.route,
    }),
  };
  const title = JSON.stringify(titleOf(name));
  const named = Object.entries(files).map(([key, text]) =>
    [key, text.replace('"My app"', () => title)] as const
  );
  return Object.fromEntries(named);
}

function titleOf(folder: string): string {
  const [first = "App", ...others] = folder.split(/[-_.\s]+/).filter(Boolean);
  return [first.charAt(0).toUpperCase() + first.slice(1), ...others].join(" ");
}

/** The types of better-auth refer to packages of other runtimes, which are not installed. */
const LOGIN_OPTIONS = { skipLibCheck: true } as const;

function tsconfig({ runtime, plain, login }: FilesOptions): string {
  const { types, ...others } = COMPILER_OPTIONS;
  const options = { ...others, ...plain && PLAIN_OPTIONS, ...login && LOGIN_OPTIONS };
  return json({ compilerOptions: { ...runtime === "node" && { types }, ...options } });
}

function versionsOf(names: readonly Package[], registry?: "jsr:" | "npm:"): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      registry === undefined ? VERSIONS[name] : `${registry}${name}@${VERSIONS[name]}`,
    ]),
  );
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
