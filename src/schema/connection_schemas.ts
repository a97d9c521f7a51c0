import mongoose from "mongoose";
import type { Connection } from "mongoose";
import type { BuiltSchemas } from "./build_schema.ts";

/**
 * A plugin of a connection, with its options. Connections share schemas only if they have the same plugins, which means
 * that the functions and the objects with options are identical.
 */
type Plugin = readonly [apply: object, options?: unknown];

/** A cache of schemas for all connections that have the same plugins in the same order. */
interface PluginSchemas {
  readonly plugins: readonly Plugin[];
  readonly built: BuiltSchemas;
}

/**
 * The plugins that Mongoose's default connection had when the first model was compiled. Connections with these plugins
 * use the default cache of `buildSchema()`.
 */
let usual: readonly Plugin[] | undefined;

const withoutPlugins: BuiltSchemas = new WeakMap();

/**
 * The caches of schemas for connections with other plugins than the default connection. The key is the function of the
 * first plugin, so that the caches are garbage-collected with the plugin.
 */
const withPlugins = new WeakMap<object, PluginSchemas[]>();

/**
 * Returns the cache of schemas for a connection. Returns `undefined` if the connection has the plugins of the default
 * connection, so that `buildSchema()` uses its default cache.
 *
 * Mongoose applies the plugins of a connection to a schema only once, so connections may share schemas only if they
 * have the same plugins.
 */
export function schemasFor({ plugins }: Connection): BuiltSchemas | undefined {
  if (isSame(plugins, usualPlugins())) return undefined;
  const [first] = plugins as readonly Plugin[];
  if (first === undefined) return withoutPlugins;
  const [apply] = first;
  const known = withPlugins.get(apply) ?? [];
  let found = known.find((each) => isSame(each.plugins, plugins));
  if (found === undefined) {
    found = { plugins: [...plugins], built: new WeakMap() };
    withPlugins.set(apply, [...known, found]);
  }
  return found.built;
}

export function usualPlugins(): readonly Plugin[] {
  return usual ??= [...mongoose.connection.plugins];
}

function isSame(some: readonly Plugin[], others: readonly Plugin[]): boolean {
  return some.length === others.length &&
    some.every(([apply, options], index) =>
      apply === others[index]?.[0] && options === others[index]?.[1]
    );
}
