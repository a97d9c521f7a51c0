import type { Connection } from "mongoose";
import type { Actor, MaybePromise, PluginRequest } from "../plugin/mod.ts";

/** Options of {@linkcode keys}. */
export interface KeysOptions {
  /**
   * Returns the user with an identifier of `initialize({ actor })`. Each request with a key calls this. If the result
   * is `undefined`, the answer is a 401, so that the keys of a former user end.
   */
  readonly owner: (id: Actor, req: PluginRequest) => MaybePromise<object | undefined>;
  /** Whether the sender of a request can list and end all keys of the tenant. The default is only the sender's keys. */
  readonly see?: (req: PluginRequest) => boolean;
  /** The scopes that keys may have. The default is all. */
  readonly scopes?: readonly string[];
  /** The maximum number of valid keys of an owner. The default is 20. */
  readonly max?: number;
  /**
   * Secrets that the hashes of keys include, newest first. Keep them outside of the database, so that nobody can test
   * guesses of keys with a copy of the database. If you remove a secret, the keys made with it end. If you add the
   * first secret, all earlier keys end.
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
  /** The name that the owner gave the key. */
  readonly name: string;
  /** The identifier of the owner. */
  readonly owner: Actor;
  /** The result of the option `owner`. */
  readonly user: object;
  /** The tenant in which the key was made. */
  readonly tenant?: Actor;
  /** The operations that the key allows. */
  readonly scopes: readonly string[];
  /** The end of the key, or `null` if it never expires. */
  readonly expiresAt: Date | null;
}
