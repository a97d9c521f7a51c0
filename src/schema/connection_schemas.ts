import mongoose from "mongoose";
import type { Connection } from "mongoose";
import type { BuiltSchemas } from "./build_schema.ts";

type Plugin = readonly [apply: object, options?: unknown];

interface PluginSchemas {
  readonly plugins: readonly Plugin[];
  readonly built: BuiltSchemas;
}

/** The default connection's plugins when the first model was compiled. */
let usual: readonly Plugin[] | undefined;

const withoutPlugins: BuiltSchemas = new WeakMap();

/** Keyed by the first plugin's function, to be garbage-collected with it. */
const withPlugins = new WeakMap<object, PluginSchemas[]>();

/** Only connections with the same plugins share schemas. `undefined` means the default connection's. */
export function schemasFor({ plugins }: Connection): BuiltSchemas | undefined {
  if (isSame(plugins, usualPlugins())) return undefined;
  const [first] = plugins as readonly Plugin[];
  if (first === undefined) return withoutPlugins;
  const [apply] = first;
  const cached = withPlugins.get(apply) ?? [];
  let found = cached.find((each) => isSame(each.plugins, plugins));
  if (found === undefined) {
    found = { plugins: [...plugins], built: new WeakMap() };
    withPlugins.set(apply, [...cached, found]);
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
