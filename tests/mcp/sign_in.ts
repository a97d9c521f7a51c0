import { createHash, randomUUID } from "node:crypto";
import express, { type Express } from "express";
import type { McpToken } from "@mongrove/mongrove/mcp";
import { start, type Started } from "../support/support.ts";

interface Grant {
  readonly challenge: string;
  readonly resource: string;
  readonly scope: string;
}

/** An authorization server whose user agrees to everything. */
export interface SignIn extends Started {
  readonly verify: (token: string) => McpToken | undefined;
  /** Ends all tokens, and leaves what renews them. */
  readonly expire: () => void;
  /** Ends the session of the user. */
  readonly revoke: () => void;
}

export async function openSignIn(user: object): Promise<SignIn> {
  const app = express().use(express.json(), express.urlencoded());
  const served = await start(app);
  const codes = new Map<string, Grant>();
  const renewals = new Map<string, Grant>();
  const tokens = new Map<string, Grant>();
  describeServer(app, served.url);
  app.get("/authorize", ({ query }, res) => {
    const { redirect_uri: back, state, code_challenge: challenge } = query;
    const { resource, scope = "", code_challenge_method: method } = query;
    if (method !== "S256") return void res.status(400).end();
    const code = randomUUID();
    codes.set(code, {
      challenge: String(challenge),
      resource: String(resource),
      scope: String(scope),
    });
    const target = new URL(String(back));
    target.searchParams.set("code", code);
    if (state !== undefined) target.searchParams.set("state", String(state));
    res.redirect(target.href);
  });
  app.post("/token", ({ body }, res) => {
    const grant = body.grant_type === "refresh_token"
      ? renewals.get(body.refresh_token)
      : proven(codes.get(body.code), body.code_verifier);
    if (grant === undefined) return void res.status(400).json({ error: "invalid_grant" });
    const [token, renewal] = [randomUUID(), randomUUID()];
    tokens.set(token, grant);
    renewals.set(renewal, grant);
    const { scope } = grant;
    res.json({
      ...{ "access_token": token, "refresh_token": renewal },
      ...{ "token_type": "Bearer", "expires_in": 3600, scope },
    });
  });
  return {
    ...served,
    verify: (token) => {
      const grant = tokens.get(token);
      return grant && { user, audience: grant.resource, scopes: grant.scope.split(" ") };
    },
    expire: () => tokens.clear(),
    revoke: () => {
      tokens.clear();
      renewals.clear();
    },
  };
}

function proven(grant: Grant | undefined, verifier: unknown): Grant | undefined {
  const hash = createHash("sha256").update(String(verifier)).digest("base64url");
  return grant?.challenge === hash ? grant : undefined;
}

function describeServer(app: Express, url: string): void {
  app.get("/.well-known/oauth-authorization-server", (_req, res) =>
    void res.json({
      "issuer": url,
      "authorization_endpoint": `${url}/authorize`,
      "token_endpoint": `${url}/token`,
      "registration_endpoint": `${url}/register`,
      "response_types_supported": ["code"],
      "grant_types_supported": ["authorization_code", "refresh_token"],
      "code_challenge_methods_supported": ["S256"],
      "token_endpoint_auth_methods_supported": ["none"],
    }));
  app.post("/register", ({ body }, res) => {
    res.status(201).json({ ...body, "client_id": randomUUID() });
  });
}
