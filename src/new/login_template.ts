/**
 * The files that `createApp()` adds or changes with the option `login`, so that users of the new application sign in.
 *
 * @module
 */

const MODEL = `import { all, create, FrameworkModel, one, prop } from "@mongrove/mongrove";
import { type ReadOnly, remove, rest, update } from "@mongrove/mongrove";

/** The model. Each user sees and changes the todos that this user has created. */
@rest({
  route: "/todos",
  scope: (req) => ({ owner: req.user?.id }),
  methods: [
    all({ page: { max: 100 }, sort: ["text"] }),
    one(),
    create(),
    update(),
    remove(),
  ],
})
export class Todo extends FrameworkModel {
  @prop({ stamp: "createdBy", index: true })
  owner?: ReadOnly<string>;

  @prop({ required: true, maxLength: 200, index: true })
  text!: string;

  @prop({ default: false })
  done!: boolean;
}
`;

const PLAIN_MODEL = `import { all, create, define, FrameworkModel } from "@mongrove/mongrove";
import { one, type ReadOnly, remove, update } from "@mongrove/mongrove";

/** The model. Each user sees and changes the todos that this user has created. */
export class Todo extends FrameworkModel {
  owner?: ReadOnly<string>;
  text!: string;
  done!: boolean;
}
define(Todo, {
  fields: {
    owner: { stamp: "createdBy", index: true },
    text: { required: true, maxLength: 200, index: true },
    done: { default: false },
  },
  rest: {
    route: "/todos",
    scope: (req) => ({ owner: req.user?.id }),
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

const APP = `import { Framework } from "@mongrove/mongrove";
import { openapi } from "@mongrove/mongrove/openapi";
import express, { type Express } from "express";
import { mountLogin, signedIn } from "./login.ts";
import { Todo } from "./todo.ts";

/** Builds the application, after Mongoose is connected. */
export function buildApp(): Express {
  const app = express();
  mountLogin(app);
  app.use(express.json());
  const api = Framework.initialize({
    models: [Todo],
    strict: true,
    guard: signedIn,
    actor: (req) => req.user?.id,
  });
  app.use(api);
  app.use(
    openapi(api, {
      info: { title: "Todos", version: "0.1.0" },
      see: signedIn,
    }),
  );
  app.use(Framework.errors({ notFound: true }));
  return app;
}
`;

const LOGIN = `import { type GuardRequest, RestError } from "@mongrove/mongrove";
import { betterAuth, type User } from "better-auth";
import { mongodbAdapter } from "better-auth/adapters/mongodb";
import { APIError, createAuthMiddleware } from "better-auth/api";
import { fromNodeHeaders, toNodeHandler } from "better-auth/node";
import type { Express, NextFunction, Request, Response } from "express";
import { rateLimit } from "express-rate-limit";
import mongoose from "mongoose";
import { randomUUID } from "node:crypto";
import process from "node:process";

declare global {
  namespace Express {
    interface Request {
      /** The user of the session, who is the owner of new todos. Set by signedIn(). */
      user?: { readonly id: string; readonly name: string };
    }
  }
}

/** The URL of the application in browsers. Writes from pages of another origin are refused. */
const appUrl = new URL(process.env.APP_URL ?? "http://127.0.0.1:3000");
const secure = appUrl.protocol === "https:";

let auth: ReturnType<typeof openAuth>;

function openAuth() {
  const client = mongoose.connection.getClient();
  return betterAuth({
    baseURL: appUrl.origin,
    // Without a secret of your own, a restart signs all users out.
    secret: process.env.AUTH_SECRET ?? randomUUID() + randomUUID(),
    database: mongodbAdapter(client.db()),
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) =>
        mail(user.email, \`\${appUrl.origin}/new-password?token=\${token}\`),
      onPasswordReset: ({ user }) => confirmAddress(user.id),
      onExistingUserSignUp: ({ user }) => sendReset(user.email),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendVerificationEmail: ({ user, url }) => mail(user.email, url),
      beforeEmailVerification: dropPassword,
    },
    hooks: {
      before: createAuthMiddleware(({ query, body }) => {
        refuseRedirects({ ...query });
        refuseRedirects({ ...body });
        return Promise.resolve();
      }),
      after: createAuthMiddleware(({ path, context, setCookie }) => {
        const id: unknown = Object(context.returned).user?.id;
        if (path === "/sign-up/email" && typeof id === "string") {
          setCookie(SIGN_UP, id, {
            httpOnly: true,
            maxAge: 3600,
            path: "/",
            sameSite: "lax",
            secure,
          });
        }
        return Promise.resolve();
      }),
    },
  });
}

/** Sends a mail. Replace console.log() by your mail service. */
function mail(to: string, text: string): Promise<void> {
  console.log(\`Mail to \${to}: \${text}\`);
  return Promise.resolve();
}

/** The cookie of a browser that has signed up. No other subdomain can set a cookie with "__Host-". */
const SIGN_UP = secure ? "__Host-sign-up" : "sign-up";

/**
 * Runs when the link of a mail is opened. A stranger may have signed up with the address, so the password is kept only
 * in the browser of the sign-up.
 */
async function dropPassword(
  { id, email }: User,
  request?: globalThis.Request,
): Promise<void> {
  const cookies = request?.headers.get("cookie")?.split("; ") ?? [];
  if (cookies.includes(\`\${SIGN_UP}=\${id}\`)) return;
  const { internalAdapter } = await auth.$context;
  await internalAdapter.deleteAccounts(id);
  await internalAdapter.deleteUserSessions(id);
  await sendReset(email);
}

async function sendReset(email: string): Promise<void> {
  await auth.api.requestPasswordReset({ body: { email } });
}

/** Whoever sets a password by the token of a mail owns the address. */
async function confirmAddress(id: string): Promise<void> {
  const { internalAdapter } = await auth.$context;
  await internalAdapter.updateUser(id, { emailVerified: true });
}

function refuseRedirects(parameters: object): void {
  for (const [name, target] of Object.entries(parameters)) {
    if (/callbackURL|redirectTo/i.test(name) && !staysHere(String(target))) {
      throw new APIError("BAD_REQUEST", { message: \`Invalid \${name}\` });
    }
  }
}

/** Browsers take "/..//evil.example" for another origin, and better-auth for a path. */
function staysHere(target: string): boolean {
  if (!URL.canParse(target, appUrl)) return false;
  const { origin, pathname } = new URL(target, appUrl);
  return origin === appUrl.origin && !pathname.startsWith("//");
}

/** Finds the user of the session. Throws a 401 without a session. */
export async function signedIn(req: GuardRequest): Promise<boolean> {
  const session = await auth.api.getSession({
    headers: fromNodeHeaders(req.headers),
  });
  if (!session?.user.emailVerified) {
    throw new RestError(401, { code: "UNAUTHENTICATED" });
  }
  req.user = session.user;
  return true;
}

/** Refuses a write that a page of another origin sends with the cookie of the user. */
function sameOrigin(
  { method, headers }: Request,
  res: Response,
  next: NextFunction,
): void {
  const isRead = ["GET", "HEAD", "OPTIONS"].includes(method);
  const { origin } = headers;
  if (isRead || origin === undefined || origin === appUrl.origin) {
    next();
  } else {
    const message = "The origin is not APP_URL";
    res.status(403).json({ code: "FORBIDDEN", message });
  }
}

/**
 * Adds the routes of the login before express.json(), because better-auth reads their bodies itself. Mongoose must be
 * connected.
 */
export function mountLogin(app: Express): void {
  auth = openAuth();
  app.use(sameOrigin);
  // better-auth also takes /api/auth/x/../sign-in for a sign-in, so the rate limit is on all of its routes.
  const skip = ({ method }: Request) => method === "GET";
  app.use("/api/auth", rateLimit({ windowMs: 15 * 60_000, limit: 30, skip }));
  app.all("/api/auth/{*path}", toNodeHandler(auth));
}
`;

const TEST = `import { serve, startMongo } from "@mongrove/mongrove/testing";
import mongoose from "mongoose";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import process from "node:process";
import { buildApp } from "./app.ts";

const mongo = await startMongo();
await mongoose.connect(mongo.uri);
const { url, stop } = await serve(buildApp());

after(async () => {
  await stop();
  await mongoose.disconnect();
  await mongo.stop();
});

/** The origin of the pages of the application, which browsers send with each write. */
const origin = process.env.APP_URL ?? "http://127.0.0.1:3000";

function send(
  method: string,
  path: string,
  body?: object,
  cookie = "",
): Promise<Response> {
  const headers = { "content-type": "application/json", origin, cookie };
  return fetch(url + path, {
    method,
    headers,
    redirect: "manual",
    body: body ? JSON.stringify(body) : null,
  });
}

/** The text of the last mail, which login.ts writes to the console. */
let lastMail = "";
console.log = (text: string) => lastMail = text;

async function cookieOf(sent: Promise<Response>): Promise<string> {
  const { status, headers } = await sent;
  assert.equal(status, 200);
  return headers.getSetCookie().map((each) => each.split(";")[0]).join("; ");
}

const password = "correct horse";

/** Creates a user, and returns the cookie of the browser. */
function signUp(name: string): Promise<string> {
  const user = { name, email: \`\${name}@example.com\`, password };
  return cookieOf(send("POST", "/api/auth/sign-up/email", user));
}

/** Opens the link of the last mail. */
async function openLink(cookie = ""): Promise<void> {
  const { pathname, search } = new URL(lastMail.split(" ").at(-1) ?? "");
  const opened = await send("GET", pathname + search, undefined, cookie);
  assert.equal(opened.status, 302);
}

function signIn(name: string): Promise<Response> {
  const user = { email: \`\${name}@example.com\`, password };
  return send("POST", "/api/auth/sign-in/email", user);
}

/** Creates a user whose address is verified, and returns the cookie of the session. */
async function enter(name: string): Promise<string> {
  await openLink(await signUp(name));
  return cookieOf(signIn(name));
}

test("each user sees the todos of this user alone", async () => {
  const [ann, bob] = [await enter("ann"), await enter("bob")];
  const created = await send("POST", "/todos", { text: "Write a model" }, ann);
  assert.equal(created.status, 201);
  const todo = await created.json();
  assert.deepEqual(await (await send("GET", "/todos", undefined, ann)).json(), [
    todo,
  ]);
  assert.deepEqual(
    await (await send("GET", "/todos", undefined, bob)).json(),
    [],
  );
  const changed = await send(
    "PATCH",
    \`/todos/\${todo._id}\`,
    { done: true },
    bob,
  );
  assert.equal(changed.status, 404);
});

test("nobody sees or creates todos without a session", async () => {
  for (const path of ["/todos", "/docs", "/openapi.json"]) {
    assert.equal((await send("GET", path)).status, 401);
  }
  assert.equal((await send("POST", "/todos", { text: "Rest" })).status, 401);
});

test("a password of another browser signs nobody in", async () => {
  await signUp("eve");
  assert.equal((await signIn("eve")).status, 403);
  await openLink();
  assert.equal((await signIn("eve")).status, 401);
});
`;

/**
 * Returns the files of a new application in which users sign in, as far as they differ from an application without
 * users.
 */
export function loginFiles(plain: boolean): Readonly<Record<string, string>> {
  return {
    "todo.ts": plain ? PLAIN_MODEL : MODEL,
    "login.ts": LOGIN,
    "app.ts": APP,
    "app.test.ts": TEST,
  };
}
