import { LOGIN_SUPPORT, LOGIN_TEST } from "./login_checks.ts";
import {
  INVITATION,
  PLAIN_INVITATION,
  PLAIN_TODO,
  PLAIN_USER,
  TODO,
  USER,
} from "./login_models.ts";
import { PAGE, PAGES } from "./login_pages.ts";

const APP = `import { Framework } from "@mongrove/mongrove";
import { admin } from "@mongrove/mongrove/admin";
import { openapi } from "@mongrove/mongrove/openapi";
import express, { type Express } from "express";
import { Invitation } from "./invitation.ts";
import { mountLogin, signedIn } from "./login.ts";
import { APP_NAME } from "./page.ts";
import { askToSignIn, mountPages } from "./pages.ts";
import { Todo } from "./todo.ts";
import { namesOf, User } from "./user.ts";

/** Builds the application, after Mongoose is connected. */
export function buildApp(): Express {
  const app = express();
  mountPages(app, mountLogin(app));
  app.use(express.json());
  const api = Framework.initialize({
    models: [Todo, Invitation, User],
    strict: true,
    guard: signedIn,
    actor: (req) => req.user?.id,
    actorNames: namesOf,
    tenant: (req) => req.user?.organisation ?? undefined,
  });
  app.use(api);
  app.get("/admin", askToSignIn);
  const session = { signIn: "../sign-in", signOut: "../sign-out" };
  app.use("/admin", admin(api, { title: APP_NAME, session }));
  app.use(openapi(api, { info: { title: APP_NAME, version: "0.1.0" }, see: signedIn }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
`;

const LOGIN = `import { type GuardRequest, RestError } from "@mongrove/mongrove";
import { betterAuth, type User } from "better-auth";
import { mongodbAdapter } from "better-auth/adapters/mongodb";
import { APIError, createAuthMiddleware } from "better-auth/api";
import { fromNodeHeaders, toNodeHandler } from "better-auth/node";
import { type Express, json, type NextFunction, type Request, type Response } from "express";
import { rateLimit } from "express-rate-limit";
import mongoose from "mongoose";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { useInvitation } from "./invitation.ts";
import { appUrl, mail } from "./mail.ts";
import { escapeHtml, sendPage } from "./page.ts";

const secure = appUrl.protocol === "https:";

/** Returns the key of the cookies. Without AUTH_SECRET, a file of the developer keeps one. */
function readSecret(): string {
  const { AUTH_SECRET, NODE_ENV } = process.env;
  if (AUTH_SECRET) return AUTH_SECRET;
  if (secure || NODE_ENV === "production") {
    throw new Error("Cannot start: AUTH_SECRET is not set");
  }
  const file = new URL(".auth_secret", import.meta.url);
  try {
    writeFileSync(file, randomBytes(32).toString("base64"), { flag: "wx", mode: 0o600 });
  } catch {
    // An earlier start has written it.
  }
  return readFileSync(file, "utf8");
}

export type Auth = ReturnType<typeof openAuth>;
let auth: Auth;

function openAuth() {
  return betterAuth({
    baseURL: appUrl.origin,
    secret: readSecret(),
    database: mongodbAdapter(mongoose.connection.getClient().db()),
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) =>
        mail(user.email, \`Choose a password: \${appUrl.origin}/new-password?token=\${token}\`),
      onPasswordReset: ({ user }) => confirmAddress(user.id),
      onExistingUserSignUp: ({ user }) => sendReset(user.email),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendVerificationEmail: ({ user, url }) => mail(user.email, \`Verify your address: \${url}\`),
      beforeEmailVerification: dropPassword,
    },
    user: {
      additionalFields: {
        organisation: { type: "string", required: false, input: false },
        role: { type: "string", required: false, input: false },
      },
    },
    databaseHooks: {
      user: {
        create: {
          before: async (user, context) => {
            const invitation = await useInvitation(context?.body?.invitation, user.email);
            if (invitation === null) throw new APIError("FORBIDDEN");
            const { organisation, role } = invitation;
            return { data: { ...user, organisation, role } };
          },
        },
      },
    },
    hooks: {
      before: createAuthMiddleware(({ query, body }) => {
        refuseRedirects({ ...query });
        refuseRedirects({ ...body });
        refuseName({ ...body });
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

/** The cookie of a browser that has signed up. No other subdomain can set a cookie with "__Host-". */
const SIGN_UP = secure ? "__Host-sign-up" : "sign-up";

/**
 * Runs when the link of a mail is opened. A stranger may have signed up with the address, so the password is kept only
 * in the browser of the sign-up.
 */
async function dropPassword({ id, email }: User, request?: globalThis.Request): Promise<void> {
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

function refuseName({ name }: { readonly name?: unknown }): void {
  if (name === undefined || typeof name === "string" && /^.{1,100}$/.test(name)) return;
  throw new APIError("BAD_REQUEST", { message: "Invalid name" });
}

/** Browsers take "/..//evil.example" for another origin, and better-auth for a path. */
export function staysHere(target: string): boolean {
  if (!URL.canParse(target, appUrl)) return false;
  const { origin, pathname } = new URL(target, appUrl);
  return origin === appUrl.origin && !pathname.startsWith("//");
}

/** Finds the user of the session. Throws a 401 without a session. */
export async function signedIn(req: GuardRequest): Promise<boolean> {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(req.headers) });
  if (!session?.user.emailVerified) throw new RestError(401, { code: "UNAUTHENTICATED" });
  req.user = session.user;
  return true;
}

const isRead = ({ method }: Request) => ["GET", "HEAD", "OPTIONS"].includes(method);

/** Refuses a write that a page of another origin sends with the cookie of the user. */
function sameOrigin(req: Request, res: Response, next: NextFunction): void {
  const { origin } = req.headers;
  if (isRead(req) || origin === undefined || origin === appUrl.origin) return next();
  const message = \`This is not \${appUrl.origin}. APP_URL is the address that browsers use\`;
  res.status(403).json({ code: "FORBIDDEN", message });
}

/** Limits the sign-ins, sign-ups and mails that one address, such as an office, asks for. */
export const limit = rateLimit({
  windowMs: 15 * 60_000,
  limit: () => Number(process.env.LOGIN_LIMIT) || 30,
  skip: isRead,
  handler(req, res) {
    const message = "Too many attempts. Wait a quarter of an hour";
    res.status(429);
    if (req.accepts(["json", "html"]) === "json") res.json({ code: "RATE_LIMITED", message });
    else sendPage(res, message, \`<p><a href="\${escapeHtml(req.originalUrl)}">Back</a></p>\`);
  },
});

/** Adds the routes of the login. Mongoose must be connected. */
export function mountLogin(app: Express): Auth {
  auth = openAuth();
  app.use(sameOrigin);
  // better-auth also takes /api/auth/x/../sign-in for a sign-in, so the limit is on all of its routes.
  // better-auth itself reads bodies of any size.
  app.use("/api/auth", limit, json({ type: () => true }));
  app.all("/api/auth/{*path}", toNodeHandler(auth));
  return auth;
}
`;

const MAIL = `import { createTransport } from "nodemailer";
import process from "node:process";

const { APP_URL, MAIL_FROM, PORT = "3000", SMTP_URL } = process.env;

/** The URL of the application in browsers, to which mails link. */
export const appUrl = new URL(APP_URL ?? \`http://127.0.0.1:\${PORT}\`);

const transport = SMTP_URL === undefined ? undefined : createTransport(SMTP_URL);

/** Sends a mail by the server in SMTP_URL. Without one, the log has the mail. */
export async function mail(to: string, text: string): Promise<void> {
  if (transport === undefined) return console.log(\`Mail to \${to}: \${text}\`);
  const [subject = ""] = text.split(": ");
  await transport.sendMail({ from: MAIL_FROM, to, subject, text });
}
`;

const MAKE_ADMIN = `import { getModel } from "@mongrove/mongrove";
import mongoose from "mongoose";
import process from "node:process";
import { Invitation, linkOf, newLink } from "./invitation.ts";
import { User } from "./user.ts";

const [address = "", organisation = address.split("@")[1] ?? ""] = process.argv.slice(2);

/** Makes the user with this address an administrator, or invites the address if nobody has it. */
async function makeAdmin(email: string): Promise<string> {
  const user = await getModel(User).findOneAndUpdate({ email }, { role: "admin" });
  if (user) return \`\${email} is an administrator of \${user.organisation}\`;
  const invited = { email, organisation };
  const model = getModel(Invitation);
  const invitation = await model.findOne(invited) ?? new model(invited);
  await invitation.set({ role: "admin", ...newLink() }).save();
  return \`Sign up as an administrator of \${organisation}: \${linkOf(invitation)}\`;
}

if (!address.includes("@")) {
  console.error("Usage: make-admin boss@acme.example [organisation]");
  process.exit(1);
}
const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/todos";
const options = { autoIndex: false, serverSelectionTimeoutMS: 5000 };
await mongoose.connect(uri, options).catch(({ message }) => {
  console.error(\`No MongoDB at \${uri.replace(/\\/\\/.*@/, "//")}: see README.md (\${message})\`);
  process.exit(1);
});
console.log(await makeAdmin(address.toLowerCase()));
await mongoose.disconnect();
`;

export function loginFiles(plain: boolean): Readonly<Record<string, string>> {
  return {
    "todo.ts": plain ? PLAIN_TODO : TODO,
    "user.ts": plain ? PLAIN_USER : USER,
    "invitation.ts": plain ? PLAIN_INVITATION : INVITATION,
    "login.ts": LOGIN,
    "pages.ts": PAGES,
    "page.ts": PAGE,
    "mail.ts": MAIL,
    "make_admin.ts": MAKE_ADMIN,
    "app.ts": APP,
    "app.test.ts": LOGIN_TEST,
    "test_support.ts": LOGIN_SUPPORT,
  };
}
