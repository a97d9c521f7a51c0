export const LOGIN_SUPPORT = `import { getModel } from "@mongrove/mongrove";
import { serve, startMongo } from "@mongrove/mongrove/testing";
import mongoose from "mongoose";
import assert from "node:assert/strict";
import process from "node:process";
import { after } from "node:test";
import { buildApp } from "./app.ts";
import { Invitation, linkOf } from "./invitation.ts";
import { appUrl } from "./mail.ts";

process.env.LOGIN_LIMIT = "1000";
const mongo = await startMongo({ replicaSet: 1 });
await mongoose.connect(mongo.uri);
const server = await serve(buildApp());
export const { url } = server;

after(async () => {
  await server.stop();
  await mongoose.disconnect();
  await mongo.stop();
});

/** The last link of a mail. Without SMTP_URL, the console has all mails. */
export let lastLink = new URL(url);
console.log = (text: string) => lastLink = new URL(text.split(" ").at(-1) ?? "");

/** A browser, which keeps cookies and sends its origin with each write. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  async #send(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map((each) => each.join("=")).join("; ");
    const headers = { ...init.headers, cookie, origin: appUrl.origin };
    const response = await fetch(url + path, { ...init, headers, redirect: "manual" });
    for (const each of response.headers.getSetCookie()) {
      const [name = "", value = ""] = each.split(";", 1)[0]?.split("=") ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }

  get(path: string): Promise<Response> {
    return this.#send(path, {});
  }

  /** Sends a form, and returns the path of the next page, or the text of a page with a problem. */
  async submit(path: string, values: Record<string, string> = {}): Promise<string> {
    const response = await this.#send(path, { method: "POST", body: new URLSearchParams(values) });
    return response.headers.get("location") ?? await response.text();
  }

  send(method: string, path: string, body: object): Promise<Response> {
    const headers = { "content-type": "application/json" };
    return this.#send(path, { method, headers, body: JSON.stringify(body) });
  }
}

export const password = "correct horse";

/** Signs up by a link of an invitation. */
export async function signUp(browser: Browser, { pathname, searchParams }: URL): Promise<void> {
  const values = { name: "Ann", password, ...Object.fromEntries(searchParams) };
  assert.equal(await browser.submit(pathname, values), "/sign-in?note=mail");
}

/** Opens the link of the last mail, which verifies the address. */
export async function openLink(browser: Browser): Promise<void> {
  const opened = await browser.get(lastLink.pathname + lastLink.search);
  assert.equal(opened.headers.get("location"), "/verified");
}

/** Invites an address, and returns a browser in which it is signed in. */
export async function enter(email: string, role: string): Promise<Browser> {
  const organisation = email.split("@")[1] ?? "";
  const invitation = await getModel(Invitation).create({ email, organisation, role });
  const browser = new Browser();
  await signUp(browser, new URL(linkOf(invitation)));
  await openLink(browser);
  assert.equal(await browser.submit("/sign-in", { email, password }), "/");
  return browser;
}
`;

export const LOGIN_TEST = `import { getModel } from "@mongrove/mongrove";
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { Invitation, linkOf } from "./invitation.ts";
import { Browser, enter, lastLink, openLink, password, signUp, url } from "./test_support.ts";
import { namesOf } from "./user.ts";

test("an organisation shares its todos, and its administrators remove them", async () => {
  const boss = await enter("boss@acme.example", "admin");
  const ann = await enter("ann@acme.example", "member");
  const eve = await enter("eve@evil.example", "admin");
  const created = await ann.send("POST", "/todos", { title: "Write a model" });
  assert.equal(created.status, 201);
  const todo = await created.json();
  assert.deepEqual(await (await boss.get("/todos")).json(), [todo]);
  assert.deepEqual(await (await eve.get("/todos")).json(), []);
  const path = \`/todos/\${todo._id}\`;
  assert.equal((await ann.send("DELETE", path, {})).status, 403);
  assert.equal((await eve.send("DELETE", path, {})).status, 404);
  assert.equal((await boss.send("DELETE", path, {})).status, 204);
});

test("an administrator invites into the own organisation, and a member does not", async () => {
  const boss = await enter("boss@bell.example", "admin");
  const invited = await boss.send("POST", "/invitations", { email: "bob@home.example" });
  assert.equal(invited.status, 201);
  const bob = new Browser();
  await signUp(bob, lastLink);
  await openLink(bob);
  assert.equal(await bob.submit("/sign-in", { email: "bob@home.example", password }), "/");
  assert.match(await (await bob.get("/")).text(), /Ann, member of bell\\.example/);
  const email = "eve@home.example";
  assert.equal((await bob.send("POST", "/invitations", { email })).status, 403);
  assert.equal((await bob.get("/users")).status, 403);
});

test("an invitation that is sent again has another link, and expires", async () => {
  const boss = await enter("boss@dock.example", "admin");
  const email = "dan@dock.example";
  const { _id } = await (await boss.send("POST", "/invitations", { email })).json();
  const former = lastLink;
  assert.equal((await boss.send("POST", \`/invitations/\${_id}/send-again\`, {})).status, 200);
  const pageOf = async ({ pathname, search }: URL) =>
    (await new Browser().get(pathname + search)).text();
  const withoutForm = /Ask for another one\\.<\\/p>\\n<p>/;
  assert.match(await pageOf(former), withoutForm);
  assert.match(await pageOf(lastLink), /valid until \\d{4}-\\d\\d-\\d\\d/);
  await getModel(Invitation).updateOne({ email }, { expires: new Date() });
  assert.match(await pageOf(lastLink), withoutForm);
});

test("nobody gets in without an invitation and a session", async () => {
  const eve = new Browser();
  const email = "eve@acme.example";
  await signUp(eve, new URL(\`/sign-up?\${new URLSearchParams({ email })}\`, url));
  assert.match(await eve.submit("/sign-in", { email, password }), /is wrong/);
  for (const path of ["/todos", "/docs", "/openapi.json"]) {
    assert.equal((await eve.get(path)).status, 401);
  }
  for (const path of ["/", "/admin/"]) {
    assert.equal((await eve.get(path)).headers.get("location"), "/sign-in");
  }
});

test("a password of another browser signs nobody in", async () => {
  const email = "cem@acme.example";
  const invited = { email, organisation: "acme.example" };
  await signUp(new Browser(), new URL(linkOf(await getModel(Invitation).create(invited))));
  const cem = new Browser();
  await openLink(cem);
  assert.match(await cem.submit("/sign-in", { email, password }), /is wrong/);
  const token = lastLink.searchParams.get("token") ?? "";
  const saved = await cem.submit("/new-password", { token, newPassword: password });
  assert.equal(saved, "/sign-in?note=saved");
  assert.equal(await cem.submit("/sign-in", { email, password }), "/");
});

test("an organisation keeps an administrator, and its todos show names", async () => {
  const boss = await enter("boss@cafe.example", "admin");
  await enter("ann@cafe.example", "member");
  const users = await (await boss.get("/users")).json();
  const idOf = (email: string) => users.find((each: { email: string }) => each.email === email)._id;
  const [own, other] = [idOf("boss@cafe.example"), idOf("ann@cafe.example")];
  assert.deepEqual(await namesOf([own]), new Map([[own, "Ann"]]));
  assert.equal((await boss.send("PATCH", \`/users/\${own}\`, { role: "member" })).status, 409);
  assert.equal((await boss.send("DELETE", \`/users/\${own}\`, {})).status, 409);
  assert.equal((await boss.get("/users")).status, 200);
  assert.equal((await boss.send("PATCH", \`/users/\${other}\`, { role: "admin" })).status, 200);
  assert.equal((await boss.send("PATCH", \`/users/\${own}\`, { role: "member" })).status, 200);
});

test("a sign-in leads to a path of this application only", async () => {
  const email = "next@acme.example";
  const browser = await enter(email, "member");
  assert.equal(await browser.submit("/sign-out"), "/sign-in");
  const own = "/admin/#/todos";
  for (const target of [own, "/..//x.example", "//x.example", "/\\\\x.example"]) {
    const path = \`/sign-in?\${new URLSearchParams({ next: target })}\`;
    const next = await browser.submit(path, { email, password });
    assert.equal(next, target === own ? own : "/");
  }
});

test("a browser that tries too often gets a page", async () => {
  process.env.LOGIN_LIMIT = "1";
  const headers = { accept: "text/html" };
  const response = await fetch(\`\${url}/sign-in\`, { method: "POST", headers });
  process.env.LOGIN_LIMIT = "1000";
  assert.equal(response.status, 429);
  assert.match(await response.text(), /Wait a quarter of an hour[^]*href="\\/sign-in"/);
});
`;
