import mongoose from "mongoose";
import type { Connection } from "mongoose";
import type { BuiltSchemas } from "./build_schema.ts";

/** A plugin of a connection, with its options. */
type Plugin = readonly [apply: object, options?: unknown];

/** The schemas that connections with the same plugins share. */
interface PluginSchemas {
  readonly plugins: readonly Plugin[];
  readonly built: BuiltSchemas;
}

/** The plugins that Mongoose's default connection had when the first model was compiled. */
let usual: readonly Plugin[] | undefined;

const withoutPlugins: BuiltSchemas = new WeakMap();

/** The schemas of connections with plugins. The key is the first plugin. */
const withPlugins = new WeakMap<object, PluginSchemas[]>();

/**
 * Returns the cache of schemas for a connection. Returns `undefined` if the connection has the plugins of the default
 * connection, which uses the default cache.
 *
 * Mongoose applies the plugins of a connection to a schema only once. Connections may share schemas only if they have
 * the same plugins.
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
