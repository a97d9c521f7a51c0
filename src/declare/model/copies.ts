import type { ModelClass } from "./framework_model.ts";

/**
 * The URL identifies this copy of the package, because a process may evaluate the same copy again, as after
 * `vi.resetModules()`. It is `""` in a CommonJS bundle.
 */
const [HOME = ""] = String(import.meta.url).split("/src/declare/");

const COPY = Symbol.for("mongrove.copy");

const REGISTRIES = Symbol.for("mongrove.registries");

type Registries = Map<string, ReadonlySet<ModelClass>>;

/** Makes the set of the models of this copy, which other copies see. */
export function makeRegistry(): Set<ModelClass> {
  const registry = new Set<ModelClass>();
  registries().set(HOME, registry);
  return registry;
}

function registries(): Registries {
  return (globalThis as { [REGISTRIES]?: Registries })[REGISTRIES] ??= new Map();
}

/** Without the option `models`, `initialize()` would not serve models of another copy. */
export function checkRegistries(): void {
  for (const [url, [model]] of registries()) {
    if (url === HOME || model === undefined) continue;
    throw new TypeError(
      `Cannot initialize: ${twoCopies(`"${model.name}"`, url)}, or name "models"`,
    );
  }
}

/** Marks a value as made by this copy. Subclasses of a marked class inherit the mark. */
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
