import { type Admission, hideHeaders, type PluginRequest, RestError } from "../plugin/mod.ts";
import { hashesOf, isWellFormed } from "./_key_text.ts";
import type { KeyStore, StoredKey } from "./_key_store.ts";
import type { ApiKey, KeysOptions } from "./options.ts";

/** A symbol, because middleware may use `req.apiKey` for something else. */
const KEY = Symbol("mongrove key");

/**
 * Returns the API key of a request, also in hooks and in `actor`.
 *
 * @returns The key, or `undefined` if the request has none.
 */
export function apiKeyOf(req: object): ApiKey | undefined {
  return Reflect.get(req, KEY) as ApiKey | undefined;
}

interface AdmittingKeys {
  readonly store: KeyStore;
  readonly options: KeysOptions;
  readonly log: (error: unknown) => void;
}

/** These headers are removed, so that hooks see neither the key nor another login. */
const HIDES = ["authorization", "x-api-key", "cookie"] as const;

export async function admitKey(
  req: PluginRequest,
  keys: AdmittingKeys,
): Promise<Admission | undefined> {
  // Shared caches do not know that the answer depends on `X-API-Key`, unless `Vary` says so.
  req.res?.vary("X-API-Key");
  const text = textIn(req);
  if (text === undefined) return undefined;
  const { store, options, log } = keys;
  const { pepper = [] } = options;
  hideHeaders(req, HIDES);
  const stored = isWellFormed(text) ? await store.find(hashesOf(text, pepper)) : undefined;
  if (stored === undefined) throw refused();
  await useKey(req, { stored, options });
  store.noteUse(stored).catch(log);
  const renew = async () => {
    // Looks up the hash, because a rotation ends the old secret, but keeps the identifier.
    if (await store.find([stored.hash]) === undefined) throw refused();
    await useKey(req, { stored, options });
  };
  return { via: `key:${stored._id}`, signsIn: true, renew };
}

/** Asks for the owner in each request, because the owner may have left since the key was made. */
async function useKey(
  req: PluginRequest,
  { stored, options }: { readonly stored: StoredKey; readonly options: KeysOptions },
): Promise<void> {
  const user: unknown = await options.owner(stored.owner, req);
  if (typeof user !== "object" || user === null) throw refused();
  const { _id, name, owner, tenant, scopes, expiresAt } = stored;
  const apiKey: ApiKey = {
    id: String(_id),
    name,
    owner,
    user,
    ...tenant !== null && { tenant },
    scopes,
    expiresAt,
  };
  Object.assign(req, {
    apiKey,
    [KEY]: apiKey,
    cookies: {},
    signedCookies: {},
    ...options.as === "user" && { user },
  });
}

/** Ignores keys in URLs, which appear in logs. */
function textIn(req: PluginRequest): string | undefined {
  const { authorization, "x-api-key": header } = req.headers;
  const [, token] = /^bearer +(.*)$/i.exec(authorization ?? "") ?? [];
  const isKey = token?.startsWith("mgv_") === true;
  if (header === undefined && !isKey) return undefined;
  if (header !== undefined && authorization !== undefined) {
    throw new RestError(400, "The request has two credentials");
  }
  if ((Reflect.get(req, "user") ?? undefined) !== undefined) {
    throw new RestError(400, "The request has a key and another login");
  }
  return header === undefined ? token : String(header);
}

/** The error has no reason, so that nobody learns which keys exist. */
function refused(): RestError {
  return new RestError(401, "The key is not valid", {
    headers: { "WWW-Authenticate": `Bearer error="invalid_token"` },
  });
}
