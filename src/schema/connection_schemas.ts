import mongoose from "mongoose";
import type { Connection } from "mongoose";
import type { BuiltSchemas } from "./build_schema.ts";

/** A plugin of a connection, and its options. */
type Plugin = readonly [apply: object, options?: unknown];

/** The schemas of all connections that have the same plugins. */
interface PluginSchemas {
  readonly plugins: readonly Plugin[];
  readonly built: BuiltSchemas;
}

/** The plugins of Mongoose's default connection when the first model was compiled. */
let usual: readonly Plugin[] | undefined;

const withoutPlugins: BuiltSchemas = new WeakMap();

/** Schemas by the first plugin of their connections. */
const withPlugins = new WeakMap<object, PluginSchemas[]>();

/**
 * Returns the schemas for a connection; `undefined` for those that the default connection uses. Mongoose applies the plugins
 * of a connection to a schema once, so connections share schemas only if they have the same plugins.
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
