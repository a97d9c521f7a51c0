const SCOPE = /^(.+):([\w.-]+|\*)$/;

interface Scope {
  readonly route: string;
  readonly operation: string;
}

function readScope(text: string): Scope | undefined {
  const [, route, operation] = SCOPE.exec(text) ?? [];
  return route === undefined || operation === undefined ? undefined : { route, operation };
}

function covers(given: string, asked: string): boolean {
  const [whole, part] = [readScope(given), readScope(asked)];
  return whole !== undefined && part !== undefined &&
    [part.operation, "*"].includes(whole.operation) && holdsRoute(whole.route, part.route);
}

function holdsRoute(pattern: string, route: string): boolean {
  if (pattern === route || pattern === "**") return true;
  const root = /^(.+)\/\*\*$/.exec(pattern)?.[1];
  return root !== undefined && (route === root || route.startsWith(`${root}/`));
}

export function allows(scopes: readonly string[], asked: string): boolean {
  return scopes.some((scope) => covers(scope, asked));
}

export class KnownScopes {
  readonly #names = new Set<string>();

  add(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
  }

  /** Whether a scope allows any known operation. A misspelled scope would allow nothing, so it is refused. */
  has(text: string): boolean {
    const scope = readScope(text);
    if (scope === undefined) return false;
    const names = [...this.#names].map(readScope).filter((each) => each !== undefined)
      .filter(({ route }) => holdsRoute(scope.route, route));
    return names.some(({ operation }) => ["*", operation].includes(scope.operation));
  }
}
