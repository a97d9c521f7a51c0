import type { EntityHook } from "@mongrove/mongrove";

/** Makes a `preSend` hook that shows some fields only. The compiler knows whether the model has them. */
export function keepFields<K extends string>(...names: K[]): EntityHook<{ [N in K]: unknown }> {
  return (_req, entity) => Object.fromEntries(names.map((name) => [name, entity[name]]));
}
