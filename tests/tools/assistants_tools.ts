import { assert, assertEquals, assertRejects } from "@std/assert";
import { UnauthorizedError } from "npm:@modelcontextprotocol/sdk@^1/client/auth.js";
import { Client } from "npm:@modelcontextprotocol/sdk@^1/client/index.js";
import { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@^1/client/streamableHttp.js";
import { buildApp } from "../../examples/helpdesk/app.ts";
import { seed } from "../../examples/helpdesk/seed.ts";
import { test } from "../harness/testing.ts";
import { Assistant, BACK, call, connect, INFO } from "./support/assistant.ts";
import { Browser, type Page } from "./support/browser.ts";
import { openExample } from "./support/example.ts";
import { filesOfExample, type LoginApp, openLoginApp, PASSWORD } from "./support/login_app.ts";

const PAGE = "docs/assistants.md";

async function openTodos(change = (auth: string) => auth) {
  const { "auth.ts": auth = "", ...files } = await filesOfExample("oauth");
  const app = await openLoginApp(
    { ...files, "auth.ts": change(auth) },
    { AUTH_SECRET: crypto.randomUUID() },
  );
  return { ...app, resource: `${app.url}/mcp` };
}

/** Returns the browser of a new user, who has signed out again. */
async function signUp({ url, post }: LoginApp, name: string): Promise<Browser> {
  const body = { name, email: `${name}@notes.example`, password: PASSWORD };
  const { status } = await post("/api/auth/sign-up/email", body, { headers: { origin: url } });
  assertEquals(status, 200);
  return new Browser(url);
}

async function titlesOf(client: Client): Promise<string[]> {
  const { entities } = await call<{ readonly entities: readonly { readonly title: string }[] }>(
    client,
    "list",
    { model: "Todo" },
  );
  return entities.map(({ title }) => title);
}

async function enter(app: LoginApp & { resource: string }, name: string) {
  const browser = await signUp(app, name);
  const assistant = new Assistant(browser, name);
  return { browser, assistant, client: await connect(app.resource, assistant) };
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

/** Returns the status of a call with the token of an assistant, which is not renewed. */
async function statusOf({ post }: LoginApp, token: string | undefined): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, "mcp-protocol-version": "2025-11-25" };
  return (await post("/mcp", PING, { headers })).status;
}

test("docs/assistants.md: the client of the SDK signs in at better-auth, works, and renews its token", async () => {
  await using app = await openTodos();
  const ann = await enter(app, "ann");
  const [signIn, consent] = ann.assistant.pages;
  assertEquals([signIn?.url.pathname, consent?.url.pathname], ["/sign-in", "/consent"]);
  const text = consent?.reply?.text ?? "";
  assert(!text.includes("<b>") && text.includes("&#60;b&#62;&#34;Robot&#34; &#38; Co"), text);
  for (
    const shown of ["ann@notes.example", "127.0.0.1:9", "todos offline_access", "Allow", "Deny"]
  ) {
    assert(text.includes(shown), shown);
  }
  await call(ann.client, "create", { model: "Todo", body: { title: "Rest" } });
  assertEquals(await titlesOf(ann.client), ["Rest"]);
  const bob = await enter(app, "bob");
  assertEquals(await titlesOf(bob.client), []);

  const before = ann.assistant.tokens()?.access_token;
  const tokens = app.database.connection.collection("oauthAccessToken");
  await tokens.updateMany({}, { $set: { expiresAt: new Date(0) } });
  assertEquals(await titlesOf(ann.client), ["Rest"]);
  assertEquals([ann.assistant.tokens()?.access_token === before, ann.assistant.pages.length], [
    false,
    3,
  ]);
  await Promise.all([ann.client.close(), bob.client.close()]);
});

test("docs/assistants.md: a session or a consent that ends, ends its tokens at the next call", async () => {
  await using app = await openTodos();
  const ann = await enter(app, "ann");
  const bob = await enter(app, "bob");
  const tokenOf = ({ assistant }: typeof ann) => assistant.tokens()?.access_token;
  assertEquals([await statusOf(app, tokenOf(ann)), await statusOf(app, tokenOf(bob))], [200, 200]);
  const asUser = ({ browser }: typeof ann) => ({ headers: browser.headers });
  assertEquals((await app.post("/api/auth/sign-out", {}, asUser(ann))).status, 200);
  assertEquals([await statusOf(app, tokenOf(ann)), await statusOf(app, tokenOf(bob))], [401, 200]);
  // It cannot be renewed either, so the user is asked again.
  ann.assistant.answer = "no";
  await assertRejects(() => titlesOf(ann.client), UnauthorizedError);
  assertEquals(ann.assistant.back.get("error"), "access_denied");

  const [consent] = await app.read<{ readonly id: string }[]>(
    "/api/auth/oauth2/get-consents",
    asUser(bob),
  );
  const { id } = consent ?? {};
  assertEquals(
    (await app.post("/api/auth/oauth2/delete-consent", { id }, asUser(bob))).status,
    200,
  );
  assertEquals(await statusOf(app, tokenOf(bob)), 401);
  assertEquals((await app.get("/todos", asUser(bob))).status, 200);
  await Promise.all([ann.client.close(), bob.client.close()]);
});

/** The pair of RFC 7636, appendix B. */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const SCOPES = "todos offline_access";

/** Registers a client, and returns the query of a good authorisation. */
async function register({ post, resource }: LoginApp & { readonly resource: string }) {
  const { body } = await post<{ readonly client_id: string }>("/api/auth/oauth2/register", {
    "redirect_uris": [BACK],
    "token_endpoint_auth_method": "none",
  });
  return {
    "response_type": "code",
    "client_id": body.client_id,
    "redirect_uri": BACK,
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
    scope: "todos",
    state: "7",
    resource,
  };
}

type Query = Awaited<ReturnType<typeof register>>;

async function openRefusals() {
  const app = await openTodos();
  const browser = await signUp(app, "ann");
  const query = await register(app);
  /** Asks with another query. Empty parameters are left away. */
  const ask = async (change: Partial<Query> = {}) => {
    const given = Object.entries({ ...query, ...change }).filter(([, value]) => value !== "");
    return await browser.open(`/api/auth/oauth2/authorize?${new URLSearchParams(given)}`);
  };
  const consent = await browser.send(await ask(), LOGIN);
  assertEquals([consent.url.pathname, consent.reply?.status], ["/consent", 200]);
  return { ...app, browser, ask, consent };
}

const LOGIN = { email: "ann@notes.example", password: PASSWORD };

/** Whom the user is sent to, and with which error. */
const errorOf = ({ url }: Page) => [url.origin, url.searchParams.get("error")];

test("docs/assistants.md: better-auth refuses authorisations without PKCE, or to others", async () => {
  await using app = await openRefusals();
  const refused: readonly (readonly [Partial<Query>, string])[] = [
    [{ "code_challenge": "", "code_challenge_method": "" }, "invalid_request"],
    [{ "code_challenge_method": "plain" }, "invalid_request"],
    [{ resource: "https://api.example/mcp" }, "invalid_target"],
    [{ scope: "todos admin" }, "invalid_scope"],
  ];
  for (const [change, error] of refused) {
    assertEquals(errorOf(await app.ask(change)), [new URL(BACK).origin, error]);
  }
  for (const back of ["https://evil.example/back", `${BACK}/x`, "http://127.0.0.1.evil.example/"]) {
    const [origin, error] = errorOf(await app.ask({ "redirect_uri": back }));
    assertEquals([back, origin, typeof error], [back, app.url, "string"]);
  }
});

test("docs/assistants.md: users deny, and no other page or query allows in their name", async () => {
  await using app = await openRefusals();
  const { browser, consent } = app;
  const denied = errorOf(await browser.send(consent, { accept: "no" }));
  assertEquals(denied, [new URL(BACK).origin, "access_denied"]);
  const query = consent.url.search.slice(1);
  const changed = { accept: "yes", "oauth_query": `${query}&scope=admin` };
  assertEquals((await browser.send(consent, changed)).reply?.status, 400);
  const foreign = await app.send("POST", "/consent", {
    raw: String(new URLSearchParams({ accept: "yes", "oauth_query": query })),
    headers: {
      ...browser.headers,
      origin: "https://evil.example",
      "content-type": "application/x-www-form-urlencoded",
    },
  });
  assertEquals(foreign.status, 403);
  assert((await browser.send(consent, { accept: "yes" })).url.searchParams.has("code"));
});

/** Returns a token for a resource, or for none. */
async function tokenFor(
  { browser, query }: { readonly browser: Browser; readonly query: Query },
  asked: { readonly resource?: string },
): Promise<string> {
  const { resource: _, ...others } = query;
  let page = await browser.open(
    `/api/auth/oauth2/authorize?${new URLSearchParams({ ...others, ...asked, scope: SCOPES })}`,
  );
  while (page.reply?.status === 200) {
    page = await browser.send(page, { ...LOGIN, accept: "yes" });
  }
  const grant = new URLSearchParams({
    ...asked,
    "grant_type": "authorization_code",
    "client_id": query.client_id,
    "redirect_uri": BACK,
    "code_verifier": VERIFIER,
    code: page.url.searchParams.get("code") ?? "",
  });
  const { reply } = await browser.open("/api/auth/oauth2/token", grant);
  assertEquals(reply?.status, 200, reply?.text);
  return Object(reply?.body).access_token;
}

test("docs/assistants.md: a token for another resource, or none, is a 401", async () => {
  await using app = await openTodos((auth) =>
    auth.replaceAll("esources: [resource]", "esources: [resource, `${origin}/other`]")
  );
  const assistant = { browser: await signUp(app, "ann"), query: await register(app) };
  for (
    const [asked, status] of [
      [{ resource: app.resource }, 200],
      [{ resource: `${app.url}/other` }, 401],
      [{}, 401],
    ] as const
  ) {
    assertEquals([asked, await statusOf(app, await tokenFor(assistant, asked))], [asked, status]);
  }
  const jwt = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"ann"}')}.x`.replaceAll("=", "");
  for (const token of ["x", jwt, "a.b.c"]) {
    assertEquals([token, await statusOf(app, token)], [token, 401]);
  }
});

interface Settings {
  readonly mcpServers: {
    readonly helpdesk: { readonly url: string; readonly headers: Record<string, string> };
  };
}

async function openDesk() {
  const page = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));
  const [, text = ""] = /^ {3}```json\n(.*?)^ {3}```$/ms.exec(page) ?? [];
  const { url, headers } = (JSON.parse(text) as Settings).mcpServers.helpdesk;
  const desk = await openExample({ buildApp, seed });
  /** Connects with the header of the page, or with another one. */
  const open = async (given: Record<string, string> = headers) => {
    const client = new Client(INFO);
    const target = new URL(url.replace("http://127.0.0.1:3000", desk.url));
    const options = { requestInit: { headers: given } };
    await client.connect(new StreamableHTTPClientTransport(target, options));
    return client;
  };
  return { ...desk, open };
}

interface Tickets {
  readonly entities: readonly { readonly _id: string; readonly note?: string }[];
}

test("docs/assistants.md: an assistant of the help desk sees and does what its user may", async () => {
  await using desk = await openDesk();
  const agent = { authorization: "Bearer ada" };
  const list = { model: "Ticket", q: { state: "open" } };
  const cem = await desk.open();
  const { entities } = await call<Tickets>(cem, "list", list);
  assertEquals(entities.map(({ note }) => note), [undefined]);
  const id = entities[0]?._id;
  await call(cem, "action", { model: "Ticket", action: "close", id, body: { reason: "done" } });
  const history = `/tickets/${id}/history`;
  const [last] = await desk.read<{ readonly actor: string }[]>(history, { headers: agent });
  assertEquals(last?.actor, "cem");

  const ada = await desk.open(agent);
  const { entities: all } = await call<Tickets>(ada, "list", { model: "Ticket" });
  assertEquals([all.length, all.some(({ note }) => note !== undefined)], [2, true]);
  const nobody = await desk.open({ authorization: "Bearer zoe" });
  const refused = await call<{ readonly error: { readonly code: string } }>(nobody, "list", list);
  assertEquals(refused.error.code, "UNAUTHENTICATED");
  await Promise.all([cem.close(), ada.close(), nobody.close()]);
});
