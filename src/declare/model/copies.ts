import type { ModelClass } from "./framework_model.ts";

/**
 * The URL of the package, which tells two loaded copies apart. If a process evaluates one copy twice, as after
 * `vi.resetModules()`, the URL is equal, so nothing is refused. Bundles in CommonJS have no URL and are not told apart.
 */
const [HOME = ""] = String(import.meta.url).split("/src/declare/");

const COPY = Symbol.for("mongrove.copy");

const REGISTRIES = Symbol.for("mongrove.registries");

type Registries = Map<string, ReadonlySet<ModelClass>>;

/** Makes the set of this copy's models, by which another copy of the package finds out that two are loaded. */
export function makeRegistry(): Set<ModelClass> {
  const registry = new Set<ModelClass>();
  registries().set(HOME, registry);
  return registry;
}

function registries(): Registries {
  return (globalThis as { [REGISTRIES]?: Registries })[REGISTRIES] ??= new Map();
}

/** Throws if another copy of the package has models, because `initialize()` would silently not serve them. */
export function checkRegistries(): void {
  for (const [url, [model]] of registries()) {
    if (url === HOME || model === undefined) continue;
    throw new TypeError(
      `Cannot initialize: ${twoCopies(`"${model.name}"`, url)}, or name "models"`,
    );
  }
}

/**
 * Marks a value as made by this copy of the package, so that `checkCopy()` refuses it in another. Subclasses inherit
 * the mark.
 */
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
