export const PAGE = `import type { Response } from "express";

/** No script runs, and nothing of another origin is loaded. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The name of the application, in pages. */
export const APP_NAME = "My app";

export const STYLE = \`
:root {
  color-scheme: light dark;
  --accent: light-dark(#2b5c34, #9ccea3);
  --paper: light-dark(#fff, #1a1d1b);
  --text: light-dark(#1a1f1b, #e8ebe8);
  --quiet: light-dark(#58615a, #a6aea7);
  --line: light-dark(#e2e6e2, #2e332f);
  --error: light-dark(#b3261e, #f2b8b5);
  background: light-dark(#f7f8f7, #121412);
  color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}
body { box-sizing: border-box; max-width: 26rem; margin: 0 auto; padding: 10vh 1rem 2rem; }
header { color: var(--accent); font-weight: 650; text-align: center; }
main {
  margin-top: 1rem;
  padding: 1.5rem 2rem;
  background: var(--paper);
  border: 1px solid var(--line);
  border-radius: 10px;
}
h1 { margin: 0 0 1rem; font-size: 1.375rem; font-weight: 650; }
a { color: var(--accent); }
label, input, button { display: block; font: inherit; }
label { margin-top: 1rem; font-weight: 600; }
input, button { box-sizing: border-box; width: 100%; padding: 0.5rem 0.75rem; border-radius: 8px; }
input { color: inherit; background: transparent; border: 1px solid var(--quiet); }
button {
  margin: 1.5rem 0;
  border: 0;
  background: var(--accent);
  color: var(--paper);
  font-weight: 600;
  cursor: pointer;
}
button:hover { filter: brightness(1.1); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
input[aria-invalid] { border-color: var(--error); }
small { display: block; color: var(--quiet); }
input[aria-invalid] + small { color: var(--error); }
[role="status"] { padding-left: 0.75rem; border-left: 3px solid var(--accent); }
\`;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => \`&#\${character.charCodeAt(0)};\`);
}

/** Sends a page whose main part is \`html\`. */
export function sendPage(res: Response, title: string, html: string): void {
  res.set({
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
  });
  res.type("html").send(\`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>\${escapeHtml(title)} - \${escapeHtml(APP_NAME)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header>\${escapeHtml(APP_NAME)}</header>
<main>
<h1>\${escapeHtml(title)}</h1>
\${html}
</main>
</body>
</html>
\`);
}

/** A field of a form. Browsers check its type and length before they send it. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: "email" | "hidden" | "password" | "text";
  readonly autocomplete?: string;
  readonly minlength?: number;
}

/** A message at a field. */
export interface Problem {
  readonly field: string;
  readonly message: string;
}

export interface Form {
  readonly fields: readonly Field[];
  readonly button: string;
  readonly values: Readonly<Record<string, string>>;
  readonly problem?: Problem | undefined;
}

/** Writes a form that posts to the path of its page. The field with a problem gets the focus, or else the first one. */
export function writeForm({ fields, button, values, problem }: Form): string {
  const first = fields.find(({ type }) => type !== "hidden");
  const focus = problem?.field ?? first?.name;
  const inputs = fields.map((field) => {
    const message = problem?.field === field.name ? problem.message : "";
    const value = field.type === "password" ? "" : values[field.name] ?? "";
    return writeInput(field, { value, message, hasFocus: field.name === focus });
  });
  return \`<form method="post">\\n\${inputs.join("\\n")}\\n<button>\${button}</button>\\n</form>\`;
}

interface InputState {
  readonly value: string;
  readonly message: string;
  readonly hasFocus: boolean;
}

function writeInput(
  { name, label, type, autocomplete = "off", minlength }: Field,
  { value, message, hasFocus }: InputState,
): string {
  const input = \`<input type="\${type}" name="\${name}" value="\${escapeHtml(value)}"\`;
  if (type === "hidden") return \`\${input}>\`;
  const note = message || (minlength ? \`At least \${minlength} characters\` : "");
  const attributes = [
    \`id="\${name}" autocomplete="\${autocomplete}" required\`,
    minlength && \`minlength="\${minlength}"\`,
    note && \`aria-describedby="\${name}-note"\`,
    message && 'aria-invalid="true"',
    hasFocus && "autofocus",
  ];
  return \`<label for="\${name}">\${label}</label>
\${input} \${attributes.filter(Boolean).join(" ")}>
<small id="\${name}-note">\${escapeHtml(note)}</small>\`;
}
`;

export const PAGES = `import { fromNodeHeaders } from "better-auth/node";
import { type Express, type NextFunction, type Request, type Response, urlencoded } from "express";
import { noteOf } from "./invitation.ts";
import { type Auth, limit, signedIn, staysHere } from "./login.ts";
import { appUrl } from "./mail.ts";
import { escapeHtml, type Field, type Problem, sendPage, STYLE, writeForm } from "./page.ts";

const NAME: Field = { name: "name", label: "Name", type: "text", autocomplete: "name" };
const EMAIL: Field = { name: "email", label: "Email", type: "email", autocomplete: "username" };
const PASSWORD: Field = {
  name: "password",
  label: "Password",
  type: "password",
  autocomplete: "current-password",
};
const NEW_PASSWORD: Field = { ...PASSWORD, autocomplete: "new-password", minlength: 8 };
const hidden = (name: string): Field => ({ name, label: "", type: "hidden" });

/** A page with a form, whose values are posted to a path of better-auth. */
interface Form {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly button: string;
  readonly post: string;
  readonly more?: Readonly<Record<string, string>>;
  /** The path after success. */
  readonly next: string;
  readonly links: Readonly<Record<string, string>>;
  /** Returns the text above the form, by the query of the page. */
  readonly note?: (query: Readonly<Record<string, unknown>>) => Promise<Note>;
}

interface Note {
  readonly note?: string | undefined;
  /** Whether the page has no form. */
  readonly isVoid?: boolean;
}

const SIGN_IN = { "/sign-in": "Sign in" };
const FORGOT = { "/forgot-password": "Forgot your password?" };
const CHECK_MAIL = "/sign-in?note=mail";

const FORMS: Readonly<Record<string, Form>> = {
  "/sign-in": {
    title: "Sign in",
    fields: [EMAIL, PASSWORD],
    button: "Sign in",
    post: "sign-in/email",
    next: "/",
    links: { ...FORGOT, "/verify-email": "Verify your address" },
  },
  "/sign-up": {
    title: "Sign up",
    fields: [hidden("invitation"), NAME, EMAIL, NEW_PASSWORD],
    button: "Sign up",
    post: "sign-up/email",
    more: { callbackURL: "/verified" },
    next: CHECK_MAIL,
    links: SIGN_IN,
    note: noteOf,
  },
  "/verify-email": {
    title: "Verify your address",
    fields: [EMAIL],
    button: "Send a link",
    post: "send-verification-email",
    more: { callbackURL: "/verified" },
    next: CHECK_MAIL,
    links: SIGN_IN,
  },
  "/forgot-password": {
    title: "Forgot your password?",
    fields: [EMAIL],
    button: "Send a link",
    post: "request-password-reset",
    next: CHECK_MAIL,
    links: SIGN_IN,
  },
  "/new-password": {
    title: "Choose a password",
    fields: [hidden("token"), { ...NEW_PASSWORD, name: "newPassword" }],
    button: "Save",
    post: "reset-password",
    next: "/sign-in?note=saved",
    links: FORGOT,
  },
};

const NOTES: ReadonlyMap<unknown, string> = new Map(Object.entries({
  mail: "If the address is known or invited, you get a mail with a link.",
  saved: "Your password is saved.",
  verified: "Your address is verified. If this is not the browser of your sign-up, you get a mail.",
  expired: "The link has expired. Ask for another one.",
}));

/** What the pages say instead of the messages of better-auth, and at which field. */
const PROBLEMS: Readonly<Record<string, Problem>> = {
  EMAIL_NOT_VERIFIED: { field: "email", message: "Open the link in your mail first" },
  INVALID_EMAIL_OR_PASSWORD: { field: "password", message: "Email or password is wrong" },
  INVALID_TOKEN: { field: "newPassword", message: "The link has expired. Ask for another one" },
};

/** Returns the message for a refused form. Its field is the one that better-auth names, or else the first one. */
async function problemOf({ fields }: Form, answer: globalThis.Response): Promise<Problem> {
  const { code = "", message = "Try again later" } = await answer.json().catch(() => ({}));
  const [first, ...others] = fields.filter(({ type }) => type !== "hidden");
  const named = others.find(({ name, type }) =>
    message.includes(name) || code.includes(type.toUpperCase())
  );
  const field = (named ?? first)?.name ?? "";
  return PROBLEMS[code] ?? { field, message: message.replace(/^\\[[\\w.]+\\] /, "") };
}

/** Returns the path after success. A sign-in leads to \`?next=\`, if it is a path of this application. */
function nextOf({ post, next }: Form, { query }: Request): string {
  const asked = String(query.next ?? "");
  return post === "sign-in/email" && asked.startsWith("/") && staysHere(asked) ? asked : next;
}

/** Sends a body to a path of better-auth, whose cookies are set. */
async function post(auth: Auth, path: string, { req, res, body }: Posted) {
  const headers = fromNodeHeaders({ ...req.headers, "content-type": "application/json" });
  for (const name of ["content-length", "transfer-encoding"]) headers.delete(name);
  const url = \`\${appUrl.origin}/api/auth/\${path}\`;
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await auth.handler(new globalThis.Request(url, init));
  for (const cookie of answer.headers.getSetCookie()) res.append("set-cookie", cookie);
  return answer;
}

interface Posted {
  readonly req: Request;
  readonly res: Response;
  readonly body: object;
}

function valuesOf({ fields }: Form, given: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(fields.map(({ name }) => [name, String(given[name] ?? "")]));
}

function sendForm(form: Form, res: Response, { values, note, isVoid, problem }: Filled): void {
  const { title, fields, button, links } = form;
  const html = [
    note && \`<p role="status">\${escapeHtml(note)}</p>\`,
    !isVoid && writeForm({ fields, button, values, problem }),
    ...Object.entries(links).map(([path, label]) => \`<p><a href="\${path}">\${label}</a></p>\`),
  ];
  sendPage(res, title, html.filter(Boolean).join("\\n"));
}

interface Filled extends Note {
  readonly values: Readonly<Record<string, string>>;
  readonly problem?: Problem;
}

/** Leads a browser without a session to the sign-in. */
export async function askToSignIn(req: Request, res: Response, next: NextFunction): Promise<void> {
  if (await signedIn(req).catch(() => false)) next();
  else res.redirect("/sign-in");
}

function sendHome({ user }: Request, res: Response): void {
  const isAdmin = user?.role === "admin";
  const links = {
    "/admin/#/todos": "Todos",
    ...isAdmin && { "/admin/#/invitations/create": "Invite somebody", "/admin/#/users": "Users" },
    "/docs": "API",
  };
  const who = \`\${user?.name}, \${isAdmin ? "administrator" : "member"} of \${user?.organisation}\`;
  sendPage(
    res,
    "Welcome",
    \`<p>\${escapeHtml(who)}</p>
<ul>
\${
      Object.entries(links).map(([path, label]) => \`<li><a href="\${path}">\${label}</a></li>\`).join(
        "\\n",
      )
    }
</ul>
<form method="post" action="/sign-out"><button>Sign out</button></form>\`,
  );
}

/** Adds the pages for browsers, which work without JavaScript. */
export function mountPages(app: Express, auth: Auth): void {
  app.get("/style.css", (_req, res) => void res.type("css").send(STYLE));
  for (const [path, form] of Object.entries(FORMS)) {
    app.get(path, async ({ query }, res) => {
      const note = await form.note?.(query) ?? { note: NOTES.get(query.note) };
      sendForm(form, res, { values: valuesOf(form, query), ...note });
    });
    app.post(path, limit, urlencoded({ extended: false }), async (req, res) => {
      const values = valuesOf(form, Object(req.body));
      const answer = await post(auth, form.post, { req, res, body: { ...values, ...form.more } });
      if (answer.ok) return res.redirect(303, nextOf(form, req));
      const problem = await problemOf(form, answer);
      sendForm(form, res.status(answer.status), { values, problem });
    });
  }
  app.get("/verified", ({ query }, res) => {
    res.redirect(query.error ? "/verify-email?note=expired" : "/sign-in?note=verified");
  });
  app.post("/sign-out", async (req, res) => {
    await post(auth, "sign-out", { req, res, body: {} });
    res.redirect(303, "/sign-in");
  });
  app.get("/", askToSignIn, sendHome);
}
`;
