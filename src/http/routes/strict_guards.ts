import { bindingRests } from "../../declare/model/describe_model.ts";
import { and } from "../../declare/hooks/compose.ts";
import type { Hooks } from "../../declare/hooks/hooks.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { OPERATIONS } from "../../declare/operations/operation.ts";
import { actingLevel, type Level, type Route } from "../../pipeline/request/route.ts";

export interface Above {
  readonly reader: Level;
  readonly writer: () => Level | undefined;
}

/**
 * Hooks of an entity that guard writes below it. Its `preSave` does not run, because such a write has no body for the
 * entity.
 */
const GUARDS = ["preFetch", "postFetch"] as const;

const OWN_GUARDS = [...GUARDS, "preSave"] as const;

export function writerOf(reader: Level, methods: readonly Method[]): Level | undefined {
  const method = methods.find(({ operation }) => operation === "update");
  const own = followed(reader, "update");
  const first = own === undefined ? method : own.method;
  if (first === undefined) return undefined;
  const { fetch } = (method?.hooks ?? {}) as Hooks<object>;
  const hooks = fetch === undefined ? {} : { fetch };
  const level: Level = { ...reader, operation: "update", traits: OPERATIONS.update, hooks };
  return [method ?? first, first].reduce(
    (at, each) => guardedBy(at, { ...each, names: GUARDS }),
    level,
  );
}

/**
 * An embedded entity, a file, or a referenced entity of a class without `@rest` belongs to the entity around it, whose
 * `update()` guards the writes. Classes with `@rest` have hooks themselves.
 */
export function guardedLevels(above: readonly Above[], last: Level): readonly Level[] {
  const readers = above.map(({ reader }) => reader);
  const { link, traits, hooks } = last;
  if (link === undefined || traits.change === undefined || traits.change === "act") {
    return [...readers, last];
  }
  const own = followed(last, last.operation);
  if (own !== undefined) {
    const { method, lacks } = own;
    const guarded = method === undefined
      ? { ...last, lacks }
      : guardedBy(last, { ...method, names: OWN_GUARDS });
    return [...readers, guarded];
  }
  const root = readers.findLastIndex((each) =>
    each.link === undefined || followed(each, "update") !== undefined
  );
  const changed = above.map(({ reader, writer }, index) => index < root ? reader : writer());
  const without = readers.find((_reader, index) => changed[index] === undefined);
  const lacks = without && hooks.preFetch === undefined
    ? followed(without, "update")?.lacks ?? `"${without.target.name}" above it has no update()`
    : undefined;
  const levels = readers.map((reader, index) => changed[index] ?? reader);
  return [...levels, { ...last, ...lacks && { lacks } }];
}

function followed(
  { link, target }: Level,
  operation: string,
): { readonly method?: Method; readonly lacks: string } | undefined {
  const rests = link === undefined || link.embedded ? [] : bindingRests(target);
  if (rests.length === 0) return undefined;
  const [method, ...others] = rests.flatMap(({ methods }) => methods)
    .filter((each) => each.operation === operation);
  const isKnown = method !== undefined &&
    others.every((other) => OWN_GUARDS.every((name) => other.hooks[name] === method.hooks[name]));
  const lacks = `"${target.name}" has ${method ? "several" : "no"} ${operation}()`;
  return { ...isKnown && { method }, lacks };
}

function guardedBy(
  level: Level,
  { hooks, names }: Pick<Method, "hooks"> & {
    readonly names: readonly (typeof OWN_GUARDS[number])[];
  },
): Level {
  const combined = names.flatMap((name) => {
    const [first, second] = [hooks[name], level.hooks[name] as CallableFunction | undefined];
    const both = first && second && first !== second ? and(first, second) : first ?? second;
    return both === undefined ? [] : [[name, both]];
  });
  const parameters = [...new Set([...level.parameters, ...hooks.parameters ?? []])];
  const own: Hooks<object> = { ...level.hooks, ...Object.fromEntries(combined) };
  return { ...level, hooks: own, parameters };
}

export function checkStrictGuards(routes: readonly Route[]): void {
  const lines = routes.flatMap((route) => {
    const problem = route.strict.guards ? problemOf(route) : undefined;
    if (problem === undefined) return [];
    const { operation, target } = actingLevel(route);
    const { verb } = route.operation;
    return `${verb.toUpperCase()} ${route.path}, ${operation}() of "${target.name}": ${problem}`;
  });
  lines.push(...unguardedEndpoints(routes));
  if (lines.length === 0) return;
  throw new TypeError(`Cannot initialize with "strict": ${lines.join("\n")}`);
}

function unguardedEndpoints([settings]: readonly Route[]): string[] {
  if (!settings?.strict.guards || settings.guard !== undefined) return [];
  return settings.plugins.all.flatMap(({ name, routes = [] }) =>
    routes.filter(({ open }) => open !== true).map(({ method, path }) =>
      `${method} ${path} of the plugin "${name}": nobody guards it: ` +
      `use "guard" of initialize(), or "open: true"`
    )
  );
}

function problemOf({ guard, levels, operation }: Route): string | undefined {
  const last = levels.at(-1) as Level;
  if (last.isOpen) return undefined;
  if (last.lacks !== undefined && last.hooks.preFetch === undefined) {
    return `${last.lacks}, so it needs its own "preFetch", or "open: true"`;
  }
  const isBelow = last.link !== undefined && operation.change !== "act";
  const asking = operation.change === undefined || isBelow ? levels : [last];
  if (guard !== undefined || asking.some(({ hooks }) => hooks.preFetch !== undefined)) return;
  return `nobody guards it: use "guard" of initialize(), "preFetch", or "open: true"`;
}
