import { assertEquals, assertRejects } from "@std/assert";
import express from "express";
import { UnauthorizedError } from "npm:@modelcontextprotocol/sdk@^1/client/auth.js";
import type { OAuthClientProvider } from "npm:@modelcontextprotocol/sdk@^1/client/auth.js";
import { Client } from "npm:@modelcontextprotocol/sdk@^1/client/index.js";
import { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@^1/client/streamableHttp.js";
import { all, Framework, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import { test } from "../harness/testing.ts";
import { serveTools } from "./mcp.ts";
import { openSignIn } from "./sign_in.ts";

function userOf(req: FrameworkRequest): string {
  return (req as unknown as { user: { name: string } }).user.name;
}

@rest({
  route: "/songs",
  scope: (req) => ({ singer: userOf(req) }),
  methods: [all({ page: { max: 10 } })],
})
class Song extends FrameworkModel {
  @prop()
  singer?: string;
}

/** Two endpoints, whose tokens come from one server. */
async function openSongs() {
  const signIn = await openSignIn({ name: "ann" });
  const app = express();
  const served = await serveTools(app);
  const api = Framework.initialize({ models: [Song] });
  app.use(express.json());
  for (const path of ["/mcp", "/other"]) {
    const assistants = mcp(api, {
      expose: [{ model: Song, operations: ["all"] }],
      authorization: {
        ...{ resource: served.url + path, servers: [signIn.url], scopes: ["songs"] },
        verify: signIn.verify,
      },
    });
    app.use(assistants.metadata).use(path, assistants);
  }
  await getModel(Song).create([{ singer: "ann" }, { singer: "bob" }]);
  return {
    ...{ ...served, signIn },
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await signIn[Symbol.asyncDispose]();
    },
  };
}

/** Keeps what an assistant knows, and goes where it is sent. */
class Assistant implements OAuthClientProvider {
  readonly redirectUrl = "http://127.0.0.1/back";
  readonly clientMetadata = { "client_name": "test", "redirect_uris": [this.redirectUrl] };
  readonly #kept = new Map<string, unknown>();
  code = "";
  asked = 0;

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

  saveCodeVerifier(verifier: string) {
    this.#kept.set("verifier", verifier);
  }

  codeVerifier() {
    return String(this.#kept.get("verifier"));
  }

  invalidateCredentials() {
    this.#kept.delete("tokens");
  }

  async redirectToAuthorization(url: URL) {
    this.asked++;
    const response = await fetch(url, { redirect: "manual" });
    await response.body?.cancel();
    this.code = new URL(response.headers.get("location") ?? "").searchParams.get("code") ?? "";
  }
}

/** Signs in after a first refusal. */
async function connect(url: URL, authProvider: Assistant): Promise<Client> {
  const info = { name: "test", version: "1.0.0" };
  const first = new StreamableHTTPClientTransport(url, { authProvider });
  await assertRejects(() => new Client(info).connect(first), UnauthorizedError);
  await first.finishAuth(authProvider.code);
  const client = new Client(info);
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
  return client;
}

async function singersOf(client: Client): Promise<string[]> {
  const list = { name: "list", arguments: { model: "Song" } };
  const { structuredContent } = await client.callTool(list);
  const { entities } = structuredContent as { entities: readonly { singer: string }[] };
  return entities.map(({ singer }) => singer);
}

test("the client of the SDK signs in, works, renews its token, and is sent away", async () => {
  await using songs = await openSongs();
  const assistant = new Assistant();
  const client = await connect(new URL(`${songs.url}/mcp`), assistant);
  const tokenOf = () => assistant.tokens()?.access_token;
  assertEquals(await singersOf(client), ["ann"]);
  const before = tokenOf();
  songs.signIn.expire();
  assertEquals(await singersOf(client), ["ann"]);
  assertEquals([tokenOf() === before, assistant.asked], [false, 1]);
  songs.signIn.revoke();
  await assertRejects(() => singersOf(client), UnauthorizedError);
  assertEquals(assistant.asked, 2);
  await client.close();
});

test("a token for one endpoint opens no other one", async () => {
  await using songs = await openSongs();
  const assistant = new Assistant();
  await (await connect(new URL(`${songs.url}/mcp`), assistant)).close();
  const authorization = `Bearer ${assistant.tokens()?.access_token}`;
  const headers = { authorization, "mcp-protocol-version": "2025-11-25" };
  for (const [path, status] of [["/mcp", 200], ["/other", 401]] as const) {
    const answer = await songs.post(path, { jsonrpc: "2.0", id: 1, method: "ping" }, { headers });
    assertEquals([path, answer.status], [path, status]);
  }
});
