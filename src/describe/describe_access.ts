import type { Hooks } from "../declare/hooks/hooks.ts";
import { actingLevel, type Level, type Route } from "../pipeline/request/route.ts";

const GUARDS = ["preFetch", "postFetch", "preSave", "preSend"] as const;

export function describeAccess(route: Route): readonly string[] {
  const { guard, levels } = route;
  const acting = actingLevel(route);
  const access = [
    ...guard && !acting.isOpen ? [named("guard", guard)] : [],
    ...levels.flatMap((level) => hooksOf(level.hooks, level === acting ? "" : nameOf(level))),
    ...levels.some(({ scopes }) => scopes.length > 0) ? ["scope"] : [],
    ...levels.some(({ target }) => route.features.selectingFieldOf(target)) ? ["tenant"] : [],
  ];
  return access.length === 0 ? ["everybody"] : access;
}

function hooksOf(hooks: Hooks<object>, prefix: string): string[] {
  return GUARDS.flatMap((name) => {
    const hook = hooks[name];
    return hook === undefined ? [] : [`${prefix}${named(name, hook)}`];
  });
}

function nameOf({ target }: Level): string {
  return `${target.name} `;
}

function named(option: string, { name }: CallableFunction): string {
  return name === "" || name === option ? option : `${option} ${name}`;
}
