import type { StrictOptions } from "../../src/pipeline/request/strict_parts.ts";

export function onlyStrict(...parts: (keyof StrictOptions)[]): StrictOptions {
  const off = { parameters: false, bodies: false, guards: false, lists: false, removals: false };
  return { ...off, ...Object.fromEntries(parts.map((part) => [part, true])) };
}
