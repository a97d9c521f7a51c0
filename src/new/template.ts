import { loginFiles } from "./login_template.ts";

/** The version ranges of the packages that new applications depend on. */
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
    all({ page: { max: 100 }, sort: ["text"] }),
    one(),
    create(),
    update(),
    remove(),
  ],
})
export class Todo extends FrameworkModel {
  @prop({ required: true, maxLength: 200, index: true })
  text!: string;

  @prop({ default: false })
  done!: boolean;
}
`;

/** The text of the model in a new application, without decorators, so that Node runs the model without a compiler. */
const PLAIN_MODEL = `import { all, create, define, FrameworkModel } from "@mongrove/mongrove";
import { one, remove, update } from "@mongrove/mongrove";

/** The model. */
export class Todo extends FrameworkModel {
  text!: string;
  done!: boolean;
}
define(Todo, {
  fields: {
    text: { required: true, maxLength: 200, index: true },
    done: { default: false },
  },
  rest: {
    route: "/todos",
    methods: [
      all({ page: { max: 100 }, sort: ["text"] }),
      one(),
      create(),
      update(),
      remove(),
    ],
    schemaOptions: { strict: "throw" },
  },
});
`;

const APP = `import { Framework, type GuardRequest } from "@mongrove/mongrove";
import { openapi } from "@mongrove/mongrove/openapi";
import express, { type Express } from "express";
import process from "node:process";
import { Todo } from "./todo.ts";

/** How /docs sends the key. */
const KEY = {
  securitySchemes: {
    key: { type: "apiKey", in: "header", name: "authorization" },
  },
  security: [{ key: [] }],
} as const;

/** Builds the application. It neither connects nor listens. Without a key, it lets nobody in. */
export function buildApp(key = process.env.API_KEY): Express {
  const app = express();
  app.use(express.json());
  const guard = ({ headers }: GuardRequest) =>
    key !== undefined && headers.authorization === key;
  const api = Framework.initialize({ models: [Todo], strict: true, guard });
  app.use(api);
  app.use(openapi(api, { info: { title: "Todos", version: "0.1.0" }, ...KEY }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
`;

const MAIN = `import { Framework } from "@mongrove/mongrove";
import mongoose from "mongoose";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { buildApp } from "./app.ts";

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/todos";
while (!await mongoose.connect(uri).catch(console.error)) await wait(1000);

const port = Number(process.env.PORT ?? 3000);
const server = buildApp().listen(port, "127.0.0.1");
console.log(\`http://127.0.0.1:\${port}/docs shows the API\`);

// On SIGINT and SIGTERM, requests in progress are finished before the process ends.
const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
`;

const TEST = `import { serve, startMongo } from "@mongrove/mongrove/testing";
import mongoose from "mongoose";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { buildApp } from "./app.ts";

const mongo = await startMongo();
await mongoose.connect(mongo.uri);
const { url, stop } = await serve(buildApp("secret"));

after(async () => {
  await stop();
  await mongoose.disconnect();
  await mongo.stop();
});

async function send(
  method: string,
  path: string,
  body?: object,
  authorization = "secret",
) {
  const response = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", authorization },
    body: body ? JSON.stringify(body) : null,
  });
  return { status: response.status, body: await response.json() };
}

test("a todo is created, done and found", async () => {
  const created = await send("POST", "/todos", { text: "Write a model" });
  assert.equal(created.status, 201);
  const path = \`/todos/\${created.body._id}\`;
  const done = await send("PATCH", path, { done: true });
  assert.equal(done.status, 200);
  const q = encodeURIComponent('{"done":true}');
  const found = await send("GET", \`/todos?q=\${q}\`);
  assert.deepEqual(found.body, [done.body]);
});

test("a field that is not declared is refused", async () => {
  const refused = await send("POST", "/todos", { text: "Rest", color: "red" });
  assert.equal(refused.status, 400);
  assert.deepEqual(Object.keys(refused.body.errors), ["color"]);
});

test("nobody gets in without the key", async () => {
  const refused = await send("GET", "/todos", undefined, "other");
  assert.equal(refused.status, 403);
});
`;

/** The packages that a new application needs in addition if users sign in. */
const LOGIN_PACKAGES = ["better-auth", "express-rate-limit"] as const;

function denoJson(login: boolean): string {
  const packages = ["express", "mongodb-memory-server", "mongoose", "swagger-ui-dist"] as const;
  return json({
    tasks: {
      start: "deno run --allow-env --allow-net --allow-read --allow-sys main.ts",
      test: "deno test --allow-all",
    },
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

/** The options of the TypeScript compiler that refuse syntax which Node cannot remove from a file, such as an enum. */
const PLAIN_OPTIONS = { erasableSyntaxOnly: true, verbatimModuleSyntax: true } as const;

/** The properties that `createApp()` adds to the `package.json` of an application on Node. */
export interface PackageSettings {
  readonly type: "module";
  readonly scripts: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/**
 * Returns the properties of the `package.json` of a new application on Node. The scripts start files with decorators by
 * the program tsx, which compiles them. Node runs files without decorators itself.
 */
export function packageSettings({ plain = false, login = false }: KindOptions): PackageSettings {
  const types = ["@types/express", "@types/node", "typescript"] as const;
  const tools = ["eslint", "mongodb-memory-server", "typescript-eslint"] as const;
  const checks = { check: "tsc", lint: "eslint ." };
  return {
    type: "module",
    scripts: plain
      ? { start: "node main.ts", test: "node --test *.test.ts", ...checks }
      : { start: "node --import tsx main.ts", test: "tsx --test *.test.ts", ...checks },
    engines: { node: plain ? ">=22.18" : ">=22" },
    dependencies: {
      "@mongrove/mongrove": `npm:@jsr/mongrove__mongrove@${VERSIONS["@mongrove/mongrove"]}`,
      ...versionsOf(["express", "mongoose", "swagger-ui-dist", ...plain ? [] : ["tsx"] as const]),
      ...login && versionsOf(LOGIN_PACKAGES),
    },
    devDependencies: versionsOf([...types, ...tools]),
  };
}

/** The settings of the linter, which needs types to find a promise in the place of its result. */
const ESLINT = `import { parser, plugin } from "typescript-eslint";

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

/**
 * The additional files of an application on Node, such as `.gitignore`. `createApp()` keeps existing files with these
 * names.
 */
export const NODE_FILES: Readonly<Record<string, string>> = {
  ".npmrc": "@jsr:registry=https://npm.jsr.io\n",
  ".gitignore": "node_modules/\n",
  "eslint.config.js": ESLINT,
};

interface KindOptions {
  /** Whether the model of the new application has no decorators, so that Node runs it without a compiler. */
  readonly plain?: boolean;
  /** Whether users of the new application sign in, and each user has separate entities. */
  readonly login?: boolean;
}

/** The options that decide which files a new application has, and their texts. */
export interface FilesOptions extends KindOptions {
  readonly runtime: "deno" | "node";
}

/** Returns the texts of the files of a new application, by file name. */
export function filesOf(
  name: string,
  { runtime, plain = false, login = false }: FilesOptions,
): Readonly<Record<string, string>> {
  return {
    "todo.ts": plain ? PLAIN_MODEL : MODEL,
    "app.ts": APP,
    "main.ts": MAIN,
    "app.test.ts": TEST,
    ...login && loginFiles(plain),
    ...runtime === "deno"
      ? { "deno.json": denoJson(login) }
      : { "tsconfig.json": tsconfig({ plain, login }) },
    "README.md": readme(name, { run: runtime === "deno" ? "deno task" : "npm run", login }),
  };
}

/**
 * The types of better-auth refer to packages of other runtimes, which are not installed, so the compiler must not check
 * them.
 */
const LOGIN_OPTIONS = { skipLibCheck: true } as const;

function tsconfig({ plain, login }: KindOptions): string {
  const options = { ...COMPILER_OPTIONS, ...plain && PLAIN_OPTIONS, ...login && LOGIN_OPTIONS };
  return json({ compilerOptions: options });
}

function readme(
  name: string,
  { run, login }: { readonly run: string; readonly login: boolean },
): string {
  const user = login ? " -b cookies" : " -H 'authorization: secret'";
  const start = login ? `${run} start` : `API_KEY=secret ${run} start`;
  return `# ${name}

A REST API over MongoDB, made with
[Mongrove](https://jsr.io/@mongrove/mongrove).

\`\`\`sh
${run} test     # runs a MongoDB; the first time, downloads one if there is none
${start}    # needs a MongoDB at MONGODB_URI, or else at 127.0.0.1:27017
${run === "npm run" ? 'npm run lint     # finds a hook that forgets "await"\n' : ""}\`\`\`

No MongoDB? \`docker run --rm -p 27017:27017 mongo:6\` runs one.

${login ? DOCS_OF_USERS : DOCS} So does a shell:

\`\`\`sh
${
    login
      ? LOGIN_LINE
      : ""
  }curl${user} http://127.0.0.1:3000/todos -H 'content-type: application/json' -d '{"text":"Write a model"}'
curl${user} -G http://127.0.0.1:3000/todos --data-urlencode 'q={"done":false}' -d sort=text -d limit=10
\`\`\`

| file          | what it is                                               |
| ------------- | -------------------------------------------------------- |
| \`todo.ts\`     | a model: what is stored, and what clients may do with it |
| \`app.ts\`      | the application; it names its models                     |
${
    login
      ? LOGIN_ROW
      : ""
  }| \`main.ts\`     | connects and listens, and stops without losing requests  |
| \`app.test.ts\` | tests over HTTP, with a real MongoDB                     |

${login ? LOGIN_ADVICE : KEY_ADVICE}`;
}

const DOCS = "http://127.0.0.1:3000/docs shows the API and sends requests.";

const DOCS_OF_USERS =
  `http://127.0.0.1:3000/docs shows the API to users who have signed in, and sends
requests.`;

const LOGIN_LINE = `alias post="curl -c cookies -H 'content-type: application/json'"
post http://127.0.0.1:3000/api/auth/sign-up/email -d '{"name":"Ann","email":"ann@example.com","password":"correct horse"}'
curl -b cookies 'LINK'    # from the output of the application, in place of a mail
post http://127.0.0.1:3000/api/auth/sign-in/email -d '{"email":"ann@example.com","password":"correct horse"}'
`;

const LOGIN_ROW = `| \`login.ts\`    | users and sessions, by better-auth                       |
`;

const LOGIN_ADVICE = `Before you publish it, set \`APP_URL\` to the address that browsers use, and
\`AUTH_SECRET\` to a random text (\`openssl rand -base64 32\`). Behind a proxy, set
\`trust proxy\` of Express, or all users share one limit of sign-ins. Let \`mail()\`
of \`login.ts\` send mails, and make a page \`/new-password\` that posts its \`token\`
and a \`newPassword\` to \`/api/auth/reset-password\`.
`;

const KEY_ADVICE = `Whoever has the key may do everything. With \`new --login\`, users sign in
instead.
`;

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
