import { type Admission, type PluginRequest, RestError } from "../plugin/mod.ts";
import { hashesOf, isWellFormed } from "./_key_text.ts";
import type { KeyStore, StoredKey } from "./_key_store.ts";
import type { ApiKey, KeysOptions } from "./options.ts";

interface AdmittingKeys {
  readonly store: KeyStore;
  readonly options: KeysOptions;
  readonly log: (error: unknown) => void;
}

/** Hooks see neither the key nor a session beside it. */
const HIDES = ["authorization", "x-api-key", "cookie"] as const;

export async function admitKey(
  req: PluginRequest,
  keys: AdmittingKeys,
): Promise<Admission | undefined> {
  const text = textIn(req);
  if (text === undefined) return undefined;
  const { store, options, log } = keys;
  const { pepper = [] } = options;
  const stored = isWellFormed(text) ? await store.find(hashesOf(text, pepper)) : undefined;
  if (stored === undefined) throw refused();
  await useKey(req, { stored, options });
  // No request waits for it.
  store.noteUse(stored).catch(log);
  const renew = async () => {
    if (!await store.findValid(stored._id)) throw refused();
    await useKey(req, { stored, options });
  };
  return { via: `key:${stored._id}`, hides: HIDES, renew };
}

/** The owner may have left since the key was made. */
async function useKey(
  req: PluginRequest,
  { stored, options }: { readonly stored: StoredKey; readonly options: KeysOptions },
): Promise<void> {
  const user = await options.owner(stored.owner, req) ?? undefined;
  if (user === undefined) throw refused();
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
    cookies: {},
    signedCookies: {},
    ...options.as === "user" && { user },
  });
}

/** `undefined` if the request has no key. A key in the URL is never read. */
function textIn(req: PluginRequest): string | undefined {
  const { authorization, "x-api-key": header } = req.headers;
  const [, token] = /^bearer +(.*)$/i.exec(authorization ?? "") ?? [];
  const isKey = token?.startsWith("mgv_") === true;
  if (header === undefined && !isKey) return undefined;
  if (header !== undefined && authorization !== undefined) {
    throw new RestError(400, "The request has two credentials");
  }
  if (Reflect.get(req, "user") !== undefined) {
    throw new RestError(400, "The request has a key and another login");
  }
  return header === undefined ? token : String(header);
}

/** The same for all reasons, so that nobody learns which keys there were. */
function refused(): RestError {
  return new RestError(401, "The key is not valid", {
    headers: { "WWW-Authenticate": `Bearer error="invalid_token"` },
  });
}
