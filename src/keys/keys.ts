import mongoose from "mongoose";
import {
  type Actor,
  type Plugin,
  type PluginCall,
  type PluginRequest,
  type PluginRoute,
  type PluginRouteRequest,
  RestError,
} from "../plugin/mod.ts";
import { admitKey, apiKeyOf } from "./_admit_key.ts";
import { type KeyOwner, KeyStore, type StoredKey } from "./_key_store.ts";
import { hashesOf, makeKey } from "./_key_text.ts";
import { readNewKey, readOverlap } from "./_read_body.ts";
import { BODY, LIST, MADE, OVERLAP } from "./_schemas.ts";
import { allows, KnownScopes } from "./_scopes.ts";
import type { KeysOptions } from "./options.ts";

const NAME = "keys";

const OPTIONS: Readonly<Record<keyof KeysOptions, true>> = {
  owner: true,
  see: true,
  scopes: true,
  max: true,
  pepper: true,
  as: true,
  connection: true,
};

/**
 * Creates a plugin for API keys, which users make for programs. A key allows the operations in its scopes, and never
 * more than its user may do.
 *
 * The plugin needs the option `actor` of `Framework.initialize()`. A program sends its key as `Authorization: Bearer …`
 * or `X-API-Key`.
 *
 * @param options The option `owner` is required.
 * @returns The plugin, with the routes `/keys`.
 * @throws {TypeError} If an option is wrong.
 *
 * @example Accept keys
 * ```ts ignore
 * import { Framework } from "@mongrove/mongrove";
 * import { apiKeyOf, keys } from "@mongrove/mongrove/keys";
 *
 * app.use(Framework.initialize({
 *   strict: true,
 *   guard: (req) => apiKeyOf(req) !== undefined || sessionOf(req) !== undefined,
 *   actor: (req) => apiKeyOf(req)?.owner ?? sessionOf(req)?.user,
 *   plugins: [keys({ owner: (id) => findActiveUser(id) })],
 * }));
 * ```
 */
export function keys(options: KeysOptions): Plugin {
  checkOptions(options);
  const store = new KeyStore(options.connection);
  const known = new KnownScopes();
  let log: (error: unknown) => void = () => {};
  const { connection } = options;
  return {
    name: NAME,
    start(api) {
      log = (error) => api.log(error);
      known.add(api.names);
      const unknown = options.scopes?.find((scope) => !known.has(scope));
      if (unknown !== undefined) {
        throw new TypeError(`Cannot use keys: "${unknown}" in "scopes" names no operation`);
      }
    },
    admit: (req) => admitKey(req, { store, options, log }),
    around: (call, next) => judge(call, { next, allowed: options.scopes }),
    routes: routesOf({ store, options, known }),
    jobs: [{ name: NAME, run: (at) => store.clean(at), ...connection && { connection } }],
    securitySchemes: {
      apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "A key of /keys" },
    },
  };
}

function checkOptions(options: KeysOptions): void {
  const { owner, see, scopes = [], max = 20, pepper = [], as: role, connection } = Object(options);
  const fail = (problem: string) => new TypeError(`Cannot use keys: ${problem}`);
  const unknown = Object.keys(Object(options)).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) throw fail(`there is no option "${unknown}"`);
  if (typeof owner !== "function") throw fail(`"owner" is not a function`);
  if (see !== undefined && typeof see !== "function") throw fail(`"see" is not a function`);
  const lists: [string, unknown][] = [["scopes", scopes], ["pepper", pepper]];
  const wrong = lists.find(([, list]) =>
    !Array.isArray(list) || !list.every((each) => typeof each === "string" && each !== "")
  );
  if (wrong !== undefined) throw fail(`"${wrong[0]}" is not a list of texts`);
  if (!Number.isSafeInteger(max) || max < 1) throw fail(`"max" is not a positive integer`);
  if (connection !== undefined && typeof connection?.collection !== "function") {
    throw fail(`"connection" is no connection of Mongoose`);
  }
  if (role !== undefined && role !== "user") throw fail(`"as" is not "user"`);
}

/** Checks the key of every request, also in batches, calls of assistants and live lists. */
async function judge(
  { req, model, needs, tenant }: PluginCall,
  { next, allowed = ["**:*"] }: {
    readonly next: () => Promise<void>;
    /** The option `scopes` may have been narrowed since the key was made, so a scope must be in both. */
    readonly allowed: readonly string[] | undefined;
  },
): Promise<void> {
  const key = apiKeyOf(req);
  if (key !== undefined) {
    if (model === NAME) throw forbidden("A key cannot manage keys");
    if (!isSame(key.tenant, tenant)) throw forbidden("The key is of another tenant");
    const missing = needs.find((name) => !allows(key.scopes, name) || !allows(allowed, name));
    if (missing !== undefined) throw forbidden(`The key has no scope "${missing}"`, missing);
  }
  await next();
}

function isSame(one: Actor | undefined, other: Actor | undefined): boolean {
  return one === undefined || other === undefined ? one === other : String(one) === String(other);
}

function forbidden(message: string, scope?: string): RestError {
  return new RestError(403, { code: "FORBIDDEN", message, ...scope !== undefined && { scope } });
}

interface KeyRoutes {
  readonly store: KeyStore;
  readonly options: KeysOptions;
  readonly known: KnownScopes;
}

function routesOf(keys: KeyRoutes): readonly PluginRoute[] {
  const { store, options } = keys;
  return [
    {
      method: "GET",
      path: "/keys",
      operation: "all",
      summary: "List API keys",
      answer: LIST,
      async run(request) {
        const found = await store.list(seenBy(request, options));
        return found.map(shown);
      },
    },
    {
      method: "POST",
      path: "/keys",
      operation: "create",
      summary: "Make an API key, which is shown once",
      body: BODY,
      answer: MADE,
      status: 201,
      run: (request) => create(request, keys),
    },
    {
      method: "POST",
      path: "/keys/:id/rotate",
      operation: "rotate",
      summary: "Replace an API key by one with the same scopes",
      body: OVERLAP,
      answer: MADE,
      status: 201,
      run: (request) => rotate(request, keys),
    },
    {
      method: "DELETE",
      path: "/keys/:id",
      operation: "remove",
      summary: "End an API key",
      async run(request) {
        const seen = seenBy(request, options);
        if (!await store.endAt(idIn(request), { ...seen, at: new Date() })) throw notFound();
      },
    },
  ];
}

async function create(
  request: PluginRouteRequest,
  keys: KeyRoutes,
): Promise<object> {
  const { store, options: { max = 20 } } = keys;
  const own = ownerOf(request);
  refuseHeaders(request.req);
  const asked = readNewKey(request.body);
  checkScopes(asked.scopes, keys);
  const { text, ...secret } = makeSecret(keys);
  const stored = await store.add({ ...asked, ...own, ...secret }, max);
  if (stored === undefined) throw tooMany(max);
  return { ...shown(stored), key: text };
}

function checkScopes(
  scopes: readonly string[],
  { options: { scopes: allowed }, known }: KeyRoutes,
): void {
  const wrong = scopes.find((scope) =>
    !known.has(scope) || allowed !== undefined && !allows(allowed, scope)
  );
  if (wrong === undefined) return;
  throw new RestError(400, { code: "BAD_DATA", message: `No such scope: "${wrong}"` });
}

/** Only one answer shows `text`, which is the key. The database stores the hash and the prefix. */
function makeSecret(
  { options: { pepper = [] } }: KeyRoutes,
): Pick<StoredKey, "hash" | "prefix"> & { readonly text: string } {
  const { text, prefix } = makeKey();
  const [hash] = hashesOf(text, pepper) as [StoredKey["hash"]];
  return { text, hash, prefix };
}

/** JSON has later years in another form, which clients may not read. */
const LATEST = Date.parse("9999-01-01");

/**
 * Without an overlap, the key keeps its identifier and gets another secret. With an overlap, a second key is made, and
 * the old one ends later.
 */
async function rotate(
  request: PluginRouteRequest,
  keys: KeyRoutes,
): Promise<object> {
  const { store, options: { max = 20 } } = keys;
  const own = ownerOf(request);
  refuseHeaders(request.req);
  const overlapMS = readOverlap(request.body);
  const id = idIn(request);
  const old = await store.findOwn(id, own);
  if (old === undefined) throw notFound();
  checkScopes(old.scopes, keys);
  const { text, ...secret } = makeSecret(keys);
  const lastsMS = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
  const expiresAt = lastsMS === null ? null : new Date(Math.min(Date.now() + lastsMS, LATEST));
  if (overlapMS === 0) {
    const replaced = await store.replace(id, { ...own, ...secret, expiresAt });
    if (replaced === undefined) throw notFound();
    return { ...shown(replaced), key: text };
  }
  const { name, scopes } = old;
  const stored = await store.add({ name, scopes, ...own, ...secret, expiresAt }, max);
  if (stored === undefined) throw tooMany(max);
  try {
    const at = new Date(Date.now() + overlapMS);
    if (!await store.endAt(id, { ...own, at })) throw notFound();
  } catch (error) {
    await store.remove(stored._id);
    throw error;
  }
  return { ...shown(stored), key: text };
}

function ownerOf({ actor, tenant, setHeader }: PluginRouteRequest): KeyOwner {
  setHeader("Cache-Control", "no-store");
  if (actor === undefined) throw forbidden("Only a known sender has keys");
  return { owner: actor, tenant: tenant ?? null };
}

function seenBy(request: PluginRouteRequest, { see }: KeysOptions): Partial<KeyOwner> {
  const { owner, tenant } = ownerOf(request);
  return see?.(request.req) === true ? { tenant } : { owner, tenant };
}

function idIn({ params: { id = "" } }: PluginRouteRequest): StoredKey["_id"] {
  if (!/^[0-9a-f]{24}$/i.test(id)) throw notFound();
  return new mongoose.mongo.ObjectId(id);
}

/** With these headers, the answer could be a stored one or have no body, and so lack the key. */
function refuseHeaders({ headers }: PluginRequest): void {
  if (
    headers["idempotency-key"] !== undefined ||
    /\breturn *= *"?minimal\b/i.test(String(headers.prefer))
  ) {
    throw new RestError(
      400,
      "A key is shown once: send neither Idempotency-Key nor return=minimal",
    );
  }
}

function shown({ _id, hash: _hash, place: _place, tenant, ...key }: StoredKey): object {
  return { id: String(_id), ...key, ...tenant !== null && { tenant } };
}

function notFound(): RestError {
  return new RestError(404, "No such key");
}

function tooMany(max: number): RestError {
  return new RestError(409, `There are ${max} valid keys already: end one of them`);
}
