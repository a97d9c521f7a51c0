import { assert, assertEquals, assertRejects } from "@std/assert";
import { UnauthorizedError } from "npm:@modelcontextprotocol/sdk@^1/client/auth.js";
import type { OAuthClientProvider } from "npm:@modelcontextprotocol/sdk@^1/client/auth.js";
import { Client } from "npm:@modelcontextprotocol/sdk@^1/client/index.js";
import { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@^1/client/streamableHttp.js";
import { buildApp } from "../../examples/helpdesk/app.ts";
import { seed } from "../../examples/helpdesk/seed.ts";
import { test } from "../harness/testing.ts";
import { Browser, type Page } from "./support/browser.ts";
import { openExample } from "./support/example.ts";
import { filesOfPage, type LoginApp, openLoginApp, PASSWORD } from "./support/login_app.ts";

const PAGE = "docs/assistants.md";
const BACK = "http://127.0.0.1:9/back";
const NAME = `<b>"Robot" & Co</b>`;

const TODO = `import { all, create, type Entity, FrameworkModel } from "@mongrove/mongrove";
import { type FrameworkRequest, prop, type ReadOnly, rest } from "@mongrove/mongrove";

function setOwner({ user }: FrameworkRequest, todo: Entity<Todo>) {
  todo.owner = user?.name ?? "";
  return todo;
}

@rest({
  route: "/todos",
  scope: ({ user }) => ({ owner: user?.name }),
  methods: [all({ page: { max: 10 } }), create({ preSave: setOwner })],
})
export class Todo extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ readonly: true })
  owner?: ReadOnly<string>;
}
`;

const MAIN = `import process from "node:process";
import { app } from "./app.ts";

app.listen(Number(process.env.PORT), "127.0.0.1");
`;

async function openTodos(change = (auth: string) => auth) {
  const { "auth.ts": auth = "", ...files } = await filesOfPage(PAGE, [
    "A login server of your own",
  ]);
  const app = await openLoginApp(
    { ...files, "auth.ts": change(auth), "todo.ts": TODO, "main.ts": MAIN },
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

/** An assistant whose user allows it, or denies it. */
class Assistant implements OAuthClientProvider {
  readonly redirectUrl = BACK;
  readonly clientMetadata = {
    "client_name": NAME,
    "redirect_uris": [BACK],
    "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code", "refresh_token"],
  };
  readonly #kept = new Map<string, unknown>();
  /** The pages that the user has seen. */
  readonly pages: Page[] = [];
  answer: "yes" | "no" = "yes";

  constructor(readonly browser: Browser, readonly name: string) {}

  clientInformation() {
    return this.#kept.get("client") as { "client_id": string } | undefined;
  }

  saveClientInformation(client: unknown) {
    this.#kept.set("client", client);
  }

  tokens() {
    return this.#kept.get("tokens") as { "access_token": string; "token_type": string } | undefined;
  }

  saveTokens(tokens: unknown) {
    this.#kept.set("tokens", tokens);
  }

  invalidateCredentials() {
    this.#kept.delete("tokens");
  }

  saveCodeVerifier(verifier: string) {
    this.#kept.set("verifier", verifier);
  }

  codeVerifier() {
    return String(this.#kept.get("verifier"));
  }

  async redirectToAuthorization(url: URL) {
    let page = await this.browser.open(url);
    this.pages.push(page);
    while (page.reply?.status === 200) {
      const isSignIn = page.url.pathname === "/sign-in";
      page = await this.browser.send(
        page,
        isSignIn
          ? { email: `${this.name}@notes.example`, password: PASSWORD }
          : { accept: this.answer },
      );
      this.pages.push(page);
    }
  }

  /** What came back to the assistant. */
  get back(): URLSearchParams {
    const { url } = this.pages.at(-1) ?? {};
    assert(url?.href.startsWith(BACK), String(url));
    return url.searchParams;
  }
}

const INFO = { name: "test", version: "1.0.0" };

async function connect(resource: string, assistant: Assistant): Promise<Client> {
  const options = { authProvider: assistant };
  const first = new StreamableHTTPClientTransport(new URL(resource), options);
  await assertRejects(() => new Client(INFO).connect(first), UnauthorizedError);
  await first.finishAuth(assistant.back.get("code") ?? "");
  const client = new Client(INFO);
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), options));
  return client;
}

async function call<R>(client: Client, name: string, args: object): Promise<R> {
  const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
  return structuredContent as R;
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
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge_method": "S256",
    scope: "todos",
    state: "7",
    resource,
  };
}

test("docs/assistants.md: better-auth refuses authorisations without PKCE, or to others", async () => {
  await using app = await openTodos();
  const browser = await signUp(app, "ann");
  const query = await register(app);
  const ask = async (change: object = {}) => {
    const given = Object.entries({ ...query, ...change }).filter(([, value]) => value !== "");
    return await browser.open(`/api/auth/oauth2/authorize?${new URLSearchParams(given)}`);
  };
  const login = { email: "ann@notes.example", password: PASSWORD };
  const consent = await browser.send(await ask(), login);
  assertEquals([consent.url.pathname, consent.reply?.status], ["/consent", 200]);
  const refused = [
    [{ "code_challenge": "", "code_challenge_method": "" }, "invalid_request"],
    [{ "code_challenge_method": "plain" }, "invalid_request"],
    [{ resource: "https://api.example/mcp" }, "invalid_target"],
    [{ scope: "todos admin" }, "invalid_scope"],
  ] as const;
  for (const [change, error] of refused) {
    const { url } = await ask(change);
    assertEquals([change, url.origin, url.searchParams.get("error")], [
      change,
      new URL(BACK).origin,
      error,
    ]);
  }
  for (const back of ["https://evil.example/back", `${BACK}/x`, "http://127.0.0.1.evil.example/"]) {
    const { url } = await ask({ "redirect_uri": back });
    assertEquals([back, url.origin, url.searchParams.has("error")], [back, app.url, true]);
  }

  const denied = await browser.send(consent, { accept: "no" });
  assertEquals([denied.url.origin, denied.url.searchParams.get("error")], [
    new URL(BACK).origin,
    "access_denied",
  ]);
  const changed = { accept: "yes", "oauth_query": `${consent.url.search.slice(1)}&scope=admin` };
  assertEquals((await browser.send(consent, changed)).reply?.status, 400);
  const form = new URLSearchParams({ accept: "yes", "oauth_query": consent.url.search.slice(1) });
  const foreign = await app.send("POST", "/consent", {
    raw: String(form),
    headers: {
      ...browser.headers,
      origin: "https://evil.example",
      "content-type": "application/x-www-form-urlencoded",
    },
  });
  assertEquals(foreign.status, 403);
  assertEquals((await browser.send(consent, { accept: "yes" })).url.searchParams.has("code"), true);
});

test("docs/assistants.md: a token for another resource, or none, is a 401", async () => {
  await using app = await openTodos((auth) =>
    auth.replaceAll("esources: [resource]", "esources: [resource, `${origin}/other`]")
  );
  const browser = await signUp(app, "ann");
  const query = await register(app);
  const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  const tokenFor = async (resource: Record<string, string>) => {
    const { resource: _, ...others } = query;
    const asked = new URLSearchParams({ ...others, ...resource, scope: "todos offline_access" });
    let page = await browser.open(`/api/auth/oauth2/authorize?${asked}`);
    while (page.reply?.status === 200) {
      const login = { email: "ann@notes.example", password: PASSWORD };
      page = await browser.send(page, { ...login, accept: "yes" });
    }
    const { reply } = await browser.open(
      "/api/auth/oauth2/token",
      new URLSearchParams({
        ...resource,
        "grant_type": "authorization_code",
        "client_id": query.client_id,
        "redirect_uri": BACK,
        "code_verifier": verifier,
        code: page.url.searchParams.get("code") ?? "",
      }),
    );
    return Object(reply?.body).access_token;
  };
  assertEquals(await statusOf(app, await tokenFor({ resource: app.resource })), 200);
  assertEquals(await statusOf(app, await tokenFor({ resource: `${app.url}/other` })), 401);
  assertEquals(await statusOf(app, await tokenFor({})), 401);
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

test("docs/assistants.md: an assistant of the help desk sees and does what its user may", async () => {
  const page = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));
  const [, text = ""] = /^ {3}```json\n(.*?)^ {3}```$/ms.exec(page) ?? [];
  const { url, headers } = (JSON.parse(text) as Settings).mcpServers.helpdesk;
  await using desk = await openExample({ buildApp, seed });
  const open = async (token?: string) => {
    const client = new Client(INFO);
    const target = new URL(url.replace("http://127.0.0.1:3000", desk.url));
    const given = token === undefined ? headers : { authorization: token };
    const options = { requestInit: { headers: given } };
    await client.connect(new StreamableHTTPClientTransport(target, options));
    return client;
  };
  const cem = await open();
  type Tickets = { readonly entities: readonly { readonly _id: string; readonly note?: string }[] };
  const list = { model: "Ticket", q: { state: "open" } };
  const { entities } = await call<Tickets>(cem, "list", list);
  assertEquals(entities.map(({ note }) => note), [undefined]);
  const [ticket] = entities;
  const closing = { model: "Ticket", action: "close", id: ticket?._id, body: { reason: "done" } };
  await call(cem, "action", closing);
  const agent = { headers: { authorization: "Bearer ada" } };
  const [last] = await desk.read<{ readonly actor: string }[]>(
    `/tickets/${ticket?._id}/history`,
    agent,
  );
  assertEquals(last?.actor, "cem");

  const ada = await open("Bearer ada");
  const { entities: all } = await call<Tickets>(ada, "list", { model: "Ticket" });
  assertEquals([all.length, all.some(({ note }) => note !== undefined)], [2, true]);
  const nobody = await open("Bearer zoe");
  const refused = await call<{ readonly error: { readonly code: string } }>(nobody, "list", list);
  assertEquals(refused.error.code, "UNAUTHENTICATED");
  await Promise.all([cem.close(), ada.close(), nobody.close()]);
});
