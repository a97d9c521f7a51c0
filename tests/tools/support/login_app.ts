import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { openDatabase, type TestDatabase } from "../../harness/database.ts";
import { borrowServer } from "../../harness/mongo/lend_servers.ts";
import { filesOf } from "../../../src/new/template.ts";
import { makeProject, type Project } from "../../docs/tutorial/make_project.ts";
import { readSteps } from "../../docs/tutorial/read_steps.ts";
import { runCommand } from "../../reach/support/run_command.ts";
import { startApp } from "../../reach/support/start_app.ts";
import type { Reply } from "../../harness/request.ts";
import { type Client, client } from "../../support/client.ts";
import { until } from "../../support/until.ts";

/** The versions of the packages of the pages about logins. */
export const PACKAGES = {
  "@better-auth/oauth-provider": "npm:@better-auth/oauth-provider@^1.7",
  "better-auth": "npm:better-auth@^1.7",
  "better-auth/": "npm:/better-auth@^1.7/",
  "express-rate-limit": "npm:express-rate-limit@^8",
  jose: "npm:jose@^6",
  nodemailer: "npm:nodemailer@^10",
};

type Files = Readonly<Record<string, string>>;

/** Returns the files below some headings of a page, also those whose types `deno check --doc` leaves out. */
export async function filesOfPage(path: string, titles: readonly string[]): Promise<Files> {
  const page = await Deno.readTextFile(new URL(`../../../${path}`, import.meta.url));
  const steps = readSteps(page.replaceAll("```ts ignore", "```ts"))
    .filter(({ title }) => titles.includes(title));
  return Object.assign({}, ...steps.map(({ files }) => files));
}

/** Returns the files of an example whose packages the repository does not have. */
export async function filesOfExample(name: string): Promise<Files> {
  const folder = new URL(`../../../examples/${name}/`, import.meta.url);
  const files: Record<string, string> = {};
  for await (const { name } of Deno.readDir(folder)) {
    files[name] = await Deno.readTextFile(new URL(name, folder));
  }
  return files;
}

/** Returns the files of `new --login`, which docs/login.md explains. */
export function filesOfLogin(): Files {
  const { "deno.json": _config, ...files } = filesOf("app", { runtime: "deno", login: true });
  return files;
}

/** An application with a login, which runs in a process on a replica set. */
export interface LoginApp extends Client, AsyncDisposable {
  readonly folder: string;
  readonly database: TestDatabase;
  readLog(): Promise<string>;
  /** Starts the application a second time, with other settings. */
  startAgain(env: Record<string, string>): Promise<Client & AsyncDisposable>;
}

/** The texts of the applications whose types were checked. */
const checked = new Set<string>();

async function makeApp(files: Files): Promise<Project> {
  const project = await makeProject();
  const path = join(project.folder, "deno.json");
  const config = JSON.parse(await Deno.readTextFile(path));
  config.imports = { ...config.imports, ...PACKAGES };
  await project.write({ ...files, "deno.json": JSON.stringify(config) });
  const text = JSON.stringify(files);
  if (checked.has(text)) return project;
  const names = Object.keys(files).filter((name) => name.endsWith(".ts"));
  const check = ["check", "--quiet", "--no-lock", ...names];
  await runCommand(Deno.execPath(), check, { cwd: project.folder });
  checked.add(text);
  return project;
}

/** Checks the types of an application with a login, once, and starts its `main.ts`. */
export async function openLoginApp(files: Files, env: Record<string, string>): Promise<LoginApp> {
  await using stack = new AsyncDisposableStack();
  const { folder } = stack.use(await makeApp(files));
  const mongo = stack.adopt(await borrowServer("replicaSet"), ({ stop }) => stop());
  const database = stack.use(await openDatabase(mongo.uri));
  const log = join(folder, "log.txt");
  const run = ["run", "-A", "--quiet", "--no-lock", "--no-check", "main.ts"];
  const command = ["sh", "-c", `exec "$0" "$@" > ${log}`, Deno.execPath(), ...run] as const;
  const start = (settings: Record<string, string>) =>
    startApp(command, { cwd: folder, env: { MONGODB_URI: database.uri, ...settings } });
  const app = stack.use(await start(env));
  const opened = stack.move();
  return {
    ...client(app),
    folder,
    database,
    readLog: () => Deno.readTextFile(log),
    startAgain: async (settings) => {
      const again = await start(settings);
      return { ...client(again), [Symbol.asyncDispose]: () => again[Symbol.asyncDispose]() };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The settings of an application whose users have sessions. */
export const SESSION_SETTINGS = {
  APP_URL: "http://notes.example",
  AUTH_SECRET: crypto.randomUUID().repeat(2),
};

export const PASSWORD = "correct horse battery";
const ORIGIN: Readonly<Record<string, string>> = { origin: SESSION_SETTINGS.APP_URL };

function cookieOf({ headers }: Reply): string {
  return headers.getSetCookie().map((each) => each.split(";")[0]).join("; ");
}

/**
 * Returns functions that send the requests of the login of an application with sessions.
 *
 * @param always Headers of every request.
 */
export function sessionsOf(app: LoginApp, always: Readonly<Record<string, string>> = ORIGIN) {
  const auth = (path: string, body: object, headers: Record<string, string> = {}) =>
    app.post(`/api/auth/${path}`, body, { headers: { ...ORIGIN, ...always, ...headers } });
  /** Invites an address into the organisation `acme` or `bell`, unless it is invited already. */
  const invite = async (email: string): Promise<string> => {
    const organisation = /@(\w+)/.exec(email)?.[1];
    const link = { token: crypto.randomUUID(), expires: new Date(Date.now() + 60_000) };
    const stored = await app.database.connection.collection("invitations").findOneAndUpdate(
      { email, organisation },
      { $set: { role: "member" }, $setOnInsert: link },
      { upsert: true, returnDocument: "after" },
    );
    return String(stored?.token);
  };
  const signUp = async (name: string, email: string, more: object = {}): Promise<number> =>
    (await auth("sign-up/email", { name, email, password: PASSWORD, ...more })).status;
  /** Signs an invited user up, and returns the headers of the browser. */
  const join = async (email: string, password: string = PASSWORD) => {
    const invitation = await invite(email);
    const reply = await auth("sign-up/email", { name: "Ann", email, password, invitation });
    assertEquals(reply.status, 200);
    return { cookie: cookieOf(reply), ...ORIGIN };
  };
  const signIn = async (email: string, password: string = PASSWORD) => {
    const reply = await auth("sign-in/email", { email, password });
    return { status: reply.status, headers: { cookie: cookieOf(reply), ...ORIGIN } };
  };
  /** Returns the link of a mail. The first mail to an address has number 1. */
  const linkOf = async (email: string, number: number): Promise<URL> => {
    let link: string | undefined;
    await until(async () => {
      const mails = [
        ...(await app.readLog()).matchAll(RegExp(`Mail to ${email}: .* (http\\S+)`, "g")),
      ];
      link = mails[number - 1]?.[1];
      return link !== undefined;
    });
    return new URL(link ?? "");
  };
  const openLink = async (link: URL, headers: Record<string, string> = {}): Promise<void> => {
    assertEquals((await app.get(link.pathname + link.search, { headers })).status, 302);
  };
  return {
    users: app.database.connection.collection("user"),
    ...{ auth, invite, signUp, join, signIn, linkOf, openLink },
    /** Signs a user up, opens the link of the mail in the same browser, and signs the user in. */
    async enter(email: string) {
      const headers = await join(email);
      assertEquals((await signIn(email)).status, 403);
      await openLink(await linkOf(email, 1), headers);
      const user = await signIn(email);
      assertEquals(user.status, 200);
      return user;
    },
  };
}
