const SCOPE = /^(.+):([\w.-]+|\*)$/;

interface Scope {
  readonly route: string;
  readonly operation: string;
}

function readScope(text: string): Scope | undefined {
  const [, route, operation] = SCOPE.exec(text) ?? [];
  return route === undefined || operation === undefined ? undefined : { route, operation };
}

/** Whether the scope `given` allows every operation of the scope `asked`. */
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

/** `asked` is the name of an operation, or a scope. */
export function allows(scopes: readonly string[], asked: string): boolean {
  return scopes.some((scope) => covers(scope, asked));
}

/** The operations of the routers that have the plugin. */
export class KnownScopes {
  readonly #names = new Set<string>();

  add(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
  }

  /** A misspelled scope would allow nothing. */
  has(text: string): boolean {
    const scope = readScope(text);
    if (scope === undefined) return false;
    const names = [...this.#names].map(readScope).filter((each) => each !== undefined)
      .filter(({ route }) => holdsRoute(scope.route, route));
    return names.some(({ operation }) => ["*", operation].includes(scope.operation));
  }
}
