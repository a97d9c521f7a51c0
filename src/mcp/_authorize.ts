import type { Request, RequestHandler } from "express-types";
import { hideHeaders } from "../declare/plugins/hide_headers.ts";
import { logError } from "../errors/log.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { cannotServe } from "./_exposed_models.ts";
import type { McpAuthorization, McpToken } from "./options.ts";

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** The value of the header `WWW-Authenticate`. */
  readonly challenge?: string;
}

const OPTIONS: Readonly<Record<keyof McpAuthorization, true>> = {
  resource: true,
  servers: true,
  scopes: true,
  verify: true,
};

const VERIFY_MS = 5_000;

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

export function checkAuthorization(authorization: McpAuthorization | undefined): void {
  if (!isJsonObject(authorization)) throw cannotServe(`"authorization" is not an object`);
  const { resource, servers, scopes = [], verify } = authorization;
  const unknown = unknownOption(authorization, OPTIONS);
  if (unknown !== undefined) throw cannotServe(`"authorization" has no option ${unknown}`);
  const wanted = "an https URL without a query and a user";
  if (!isPlainUrl(resource)) throw cannotServe(`"authorization.resource" is not ${wanted}`);
  if (!Array.isArray(servers) || servers.length === 0 || !servers.every(isPlainUrl)) {
    throw cannotServe(`"authorization.servers" is not a list with ${wanted}`);
  }
  if (
    !Array.isArray(scopes) ||
    !scopes.every((scope) => typeof scope === "string" && SCOPE.test(scope))
  ) {
    throw cannotServe(`"authorization.scopes" is not a list of scopes`);
  }
  if (typeof verify !== "function") {
    throw cannotServe(`"authorization.verify" is not a function`);
  }
}

function isPlainUrl(value: unknown): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  return (protocol === "https:" || protocol === "http:" && LOOPBACK.test(hostname)) &&
    !/[?#\s]/.test(value) && username + password === "";
}

/** Hooks must see neither the token nor cookies. */
export async function admitCaller(
  req: Request,
  authorization: McpAuthorization,
): Promise<Refusal | undefined> {
  const { resource, scopes = [], verify } = authorization;
  const [, token] = BEARER.exec(req.headers.authorization ?? "") ?? [];
  if (token === undefined) return refused(authorization);
  try {
    const verified = await inTime(async () => await verify(token, req));
    if (!isValid(verified, resource)) return refused(authorization, "invalid_token");
    if (!scopes.every((scope) => verified.scopes?.includes(scope))) {
      return refused(authorization, "insufficient_scope");
    }
    hideHeaders(req, ["authorization", "cookie"]);
    Object.assign(req, { user: verified.user, cookies: {}, signedCookies: {} });
    return undefined;
  } catch (error) {
    const text = textOf(error).replaceAll(token, "[token]")
      .replaceAll(encodeURIComponent(token), "[token]");
    logError(`Cannot verify the token of an assistant: ${text}`);
    return { status: 503, message: "The token cannot be verified now" };
  }
}

/** Only errors and strings are logged in full, because other thrown values may contain secrets. */
function textOf(error: unknown): string {
  if (typeof error === "string") return error;
  const stack = error instanceof Error ? error.stack : undefined;
  return typeof stack === "string" ? stack : `verify() threw a value of type ${typeof error}`;
}

async function inTime<T>(run: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`verify() took ${VERIFY_MS} ms`)), VERIFY_MS);
  try {
    return await Promise.race([run(), promise]);
  } finally {
    clearTimeout(timer);
  }
}

function isValid(verified: McpToken | undefined, resource: string): verified is McpToken {
  if (!verified?.user) return false;
  const { user, audience, expiresAt, scopes } = verified;
  if (user instanceof Promise) throw new TypeError(`"user" of verify() is a promise`);
  if (expiresAt !== undefined && !(expiresAt instanceof Date)) {
    throw new TypeError(`"expiresAt" of verify() is not a Date`);
  }
  if (scopes !== undefined && !Array.isArray(scopes)) {
    throw new TypeError(`"scopes" of verify() is not a list`);
  }
  const isOurs = audience === false ||
    [audience].flat().some((each) => URL.canParse(each) && keyOf(each) === keyOf(resource));
  // An invalid date makes the comparison false, so the token is refused.
  return isOurs && (expiresAt === undefined || expiresAt.getTime() > Date.now());
}

/** A final slash makes no difference, because clients write a URL with or without it. */
function keyOf(url: string): string {
  return withoutSlash(new URL(url).href);
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, "");
}

export function refused(
  { resource, scopes = [] }: McpAuthorization,
  error?: "invalid_token" | "insufficient_scope",
): Refusal {
  const challenge = [
    ...error === undefined ? [] : [`error="${error}"`],
    `resource_metadata="${metadataUrl(resource)}"`,
    ...scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`],
  ];
  const isScope = error === "insufficient_scope";
  return {
    status: isScope ? 403 : 401,
    message: isScope ? "The token has not all scopes" : "A valid token is needed",
    challenge: `Bearer ${challenge.join(", ")}`,
  };
}

function metadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return origin + WELL_KNOWN + (pathname === "/" ? "" : pathname);
}

/** Some clients ask for the document of RFC 9728 without the path of the resource, so both paths answer. */
export function serveMetadata(authorization: McpAuthorization, name: string): RequestHandler {
  const { resource, servers, scopes = [] } = authorization;
  const paths = [WELL_KNOWN, withoutSlash(new URL(metadataUrl(resource)).pathname)];
  const document = {
    resource,
    "authorization_servers": servers,
    ...scopes.length > 0 && { "scopes_supported": scopes },
    "bearer_methods_supported": ["header"],
    "resource_name": name,
  };
  return (req, res, next) => {
    if (!paths.includes(withoutSlash(req.path))) return next();
    res.set({
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Headers": "*",
      "Access-Control-Allow-Methods": "GET, HEAD",
      "Cache-Control": "public, max-age=3600",
    });
    if (req.method === "OPTIONS") res.status(204).end();
    else if (req.method === "GET" || req.method === "HEAD") res.json(document);
    else res.status(405).set({ "Allow": "GET, HEAD, OPTIONS", "Cache-Control": "no-store" }).end();
  };
}
