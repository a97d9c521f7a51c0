import type { ModelClass } from "./framework_model.ts";

/**
 * The URL of this copy of the package, which a process may evaluate again, as after `vi.resetModules()`. A CommonJS
 * bundle has no URL.
 */
const [HOME = ""] = String(import.meta.url).split("/src/declare/");

const COPY = Symbol.for("mongrove.copy");

const REGISTRIES = Symbol.for("mongrove.registries");

type Registries = Map<string, ReadonlySet<ModelClass>>;

/** The set of the models of this copy, which other copies see. */
export function makeRegistry(): Set<ModelClass> {
  const registry = new Set<ModelClass>();
  registries().set(HOME, registry);
  return registry;
}

function registries(): Registries {
  return (globalThis as { [REGISTRIES]?: Registries })[REGISTRIES] ??= new Map();
}

/** Models of another copy would not be served by `initialize()` without `models`. */
export function checkRegistries(): void {
  for (const [url, [model]] of registries()) {
    if (url === HOME || model === undefined) continue;
    throw new TypeError(
      `Cannot initialize: ${twoCopies(`"${model.name}"`, url)}, or name "models"`,
    );
  }
}

/** The subclasses of a marked class are marked too. */
export function markCopy<T extends object>(value: T): T {
  return Object.defineProperty(value, COPY, { value: HOME });
}

export function checkCopy(value: object, name: string): void {
  const { [COPY]: url = HOME } = value as { readonly [COPY]?: string };
  if (url !== HOME) throw new TypeError(`Cannot use ${name}: ${twoCopies("it", url)}`);
}

function twoCopies(name: string, url: string): string {
  return `two copies of Mongrove are loaded, ${HOME} and ${url}, and ${name} belongs to the second; ` +
    `import Mongrove from one place`;
}
