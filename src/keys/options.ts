import type { Connection } from "mongoose";
import type { Actor, MaybePromise, PluginRequest } from "../plugin/mod.ts";

/** Options of {@linkcode keys}. */
export interface KeysOptions {
  /**
   * Returns the user by the identifier of `initialize({ actor })`, for each request with a key. `undefined` is a 401,
   * so that the keys of a former user end.
   */
  readonly owner: (id: Actor, req: PluginRequest) => MaybePromise<object | undefined>;
  /** Whether the sender of a request sees and ends all keys of the tenant. By default, only the sender's keys. */
  readonly see?: (req: PluginRequest) => boolean;
  /** The scopes that keys may have. The default is all. */
  readonly scopes?: readonly string[];
  /** The maximum number of valid keys of an owner. The default is 20. */
  readonly max?: number;
  /**
   * Secrets outside of the database for the hashes of keys, newest first, so that a copy of the database is no list of
   * hashes to try. A removed secret ends the keys made with it, and a first one the keys made before.
   */
  readonly pepper?: readonly string[];
  /** With `"user"`, the owner becomes `req.user`, as after a login. */
  readonly as?: "user";
  /** The connection whose database has the keys. The default is `mongoose.connection`. */
  readonly connection?: Connection;
}

/** The API key of a request. */
export interface ApiKey {
  /** The identifier. */
  readonly id: string;
  /** The name that the owner gave it. */
  readonly name: string;
  /** The identifier of the owner. */
  readonly owner: Actor;
  /** The result of the option `owner`. */
  readonly user: object;
  /** The tenant in which the key was made. */
  readonly tenant?: Actor;
  /** The operations that the key allows. */
  readonly scopes: readonly string[];
  /** The end of the key, or `null`. */
  readonly expiresAt: Date | null;
}
