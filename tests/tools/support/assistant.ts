import { assert, assertRejects } from "@std/assert";
import { UnauthorizedError } from "npm:@modelcontextprotocol/sdk@^1/client/auth.js";
import type { OAuthClientProvider } from "npm:@modelcontextprotocol/sdk@^1/client/auth.js";
import { Client } from "npm:@modelcontextprotocol/sdk@^1/client/index.js";
import { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@^1/client/streamableHttp.js";
import type { Browser, Page } from "./browser.ts";
import { PASSWORD } from "./login_app.ts";

/** Where an assistant on the computer of the user waits for the browser. */
export const BACK = "http://127.0.0.1:9/back";

/** The name that it gives itself. */
const ASSISTANT_NAME = `<b>"Robot" & Co</b>`;

/** An assistant whose user allows it, or denies it. */
export class Assistant implements OAuthClientProvider {
  readonly redirectUrl = BACK;
  readonly clientMetadata = {
    "client_name": ASSISTANT_NAME,
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
    assert(url !== undefined && url.href.startsWith(BACK), String(url));
    return url.searchParams;
  }
}

export const INFO = { name: "test", version: "1.0.0" };

/** Signs in after a first refusal. */
export async function connect(resource: string, assistant: Assistant): Promise<Client> {
  const options = { authProvider: assistant };
  const first = new StreamableHTTPClientTransport(new URL(resource), options);
  await assertRejects(() => new Client(INFO).connect(first), UnauthorizedError);
  await first.finishAuth(assistant.back.get("code") ?? "");
  const client = new Client(INFO);
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), options));
  return client;
}

/** Returns what a tool answers, also if it is a refusal. */
export async function call<R>(client: Client, name: string, args: object): Promise<R> {
  const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
  return structuredContent as R;
}
