import { describeModel } from "../../declare/model/describe_model.ts";
import type { Hooks } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/model_class.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { OPERATIONS } from "../../declare/operations/operation.ts";
import type { Level, Route } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeParts } from "../../schema/describe_parts.ts";
import type { PartDescription } from "../../schema/describe_parts.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { checkMethods, checkPartOperations, checkPartPath } from "./_check_routes.ts";

/** What is above a part: the path of its parent, and the levels down to it. */
export interface Above {
  /** The path that names the parent. */
  readonly path: string;
  /** The levels, the parent's `one()` last. */
  readonly levels: readonly Level[];
}

/** What the routes of a part take over from the route of its root. */
export type SharedSettings = Omit<Route, "path" | "operation" | "levels">;

/**
 * Builds the routes of what a model's properties hold, as deep as `@rest` stands on properties. A property that is met
 * again on the way down is not entered again: models may refer to each other.
 *
 * @param above What is above; `undefined` where the parent has no `one()` on this route.
 * @throws {TypeError} If a declaration is wrong; the message names the class and the property.
 */
export function buildPartRoutes(
  owner: ModelClass,
  above: Above | undefined,
  shared: SharedSettings,
): Route[] {
  return describeParts(owner).flatMap((part) => {
    checkPart(owner, part);
    if (above === undefined || above.levels.some((level) => isSame(level, part))) return [];
    return routesOfPart(owner, part, above, shared);
  });
}

function routesOfPart(
  owner: ModelClass,
  part: PartDescription,
  above: Above,
  shared: SharedSettings,
): Route[] {
  const { link, target, rest } = part;
  const base = `${above.path}${checkPartPath(owner, link.property, rest.route)}`;
  const parameter = link.array ? parameterAt(above.levels.length) : undefined;
  const item = parameter === undefined ? base : `${base}/:${parameter}`;
  const own = rest.methods.map((method): Route => {
    const operation = OPERATIONS[method.operation];
    const levels = [...above.levels, partLevel(part, method, parameter)];
    return {
      path: operation.item ? item : base,
      operation,
      levels: levels as [Level, ...Level[]],
      ...shared,
    };
  });
  const one = rest.methods.find(({ operation }) => operation === "one");
  const below = one &&
    { path: item, levels: [...above.levels, partLevel(part, one, parameter)] };
  return [...own, ...buildPartRoutes(target, below, shared)];
}

/** The parameters of nested identifiers: `id`, `subId`, `subId2`, `subId3`. */
function parameterAt(depth: number): string {
  return depth === 1 ? "subId" : `subId${depth}`;
}

function partLevel(
  { link, target, rest }: PartDescription,
  { operation, hooks }: Method,
  parameter: string | undefined,
): Level {
  const scopes = rest.scope === undefined
    ? describeModel(target).rests.map((own) => own.scope).filter((scope) => scope !== undefined)
    : [rest.scope];
  return {
    target,
    shape: describeShape(buildSchema(target).schema),
    operation,
    hooks: hooks as Hooks<object>,
    scopes,
    part: link,
    ...parameter !== undefined && { parameter },
  };
}

function checkPart(owner: ModelClass, { link, target, rest }: PartDescription): void {
  checkMethods(owner, rest.methods, link.property);
  const identified = buildSchema(target).schema.path("_id") !== undefined;
  checkPartOperations(owner, link, rest.methods, identified);
}

function isSame({ part }: Level, { link }: PartDescription): boolean {
  return part?.owner === link.owner && part.property === link.property;
}

/**
 * Checks that every part is reached by a route: without `one()` on its parent, nobody would ever reach it.
 *
 * @throws {TypeError} If one is not, and no route of its parent outside of these has `one()`.
 */
export function checkReached(routes: readonly Route[]): void {
  const levels = routes.flatMap((route) => route.levels);
  for (const owner of new Set(levels.map(({ target }) => target))) {
    const elsewhere = describeModel(owner).rests.some((rest) =>
      rest.methods.some(({ operation }) => operation === "one")
    );
    for (const part of elsewhere ? [] : describeParts(owner)) {
      if (levels.some((level) => isSame(level, part))) continue;
      throw new TypeError(
        `Cannot mount "${owner.name}": property "${part.link.property}" has @rest, which needs one() on its parent`,
      );
    }
  }
}
