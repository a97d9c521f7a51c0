import type { Hooks } from "../../declare/hooks/hooks.ts";
import { scopesOf } from "../../declare/model/describe_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import { OPERATIONS } from "../../declare/operations/operation.ts";
import type { Level, Route } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeParts } from "../../schema/describe_parts.ts";
import type { PartDescription } from "../../schema/describe_parts.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { checkConcurrency } from "./_check_concurrency.ts";
import { exampleProblem } from "./_check_words.ts";
import { cannotMount, checkPartRest } from "./_check_rest.ts";
import { compileReads } from "./_compile_reads.ts";

/** One `@rest`: where its routes stand, and what guards them. */
export interface Branch {
  readonly methods: RestRecord["methods"];
  readonly base: string;
  readonly item: string;
  readonly above: readonly Level[];
  /** Its own level, without what depends on the operation. */
  readonly level: Omit<
    Level,
    "operation" | "hooks" | "parameters" | "reads" | "shape" | "versionKey"
  >;
}

/** What the routes of a branch share with those of its root. */
export type SharedSettings = Omit<Route, "path" | "operation" | "levels">;

/**
 * Builds the routes of a branch, and of the branches below it: what the model's properties hold.
 *
 * @throws {TypeError} If a declaration is wrong; the message names the class and the property.
 */
export function branchRoutes(branch: Branch, shared: SharedSettings): Route[] {
  const { methods, base, item, above, level } = branch;
  const { schema } = buildSchema(level.target);
  const shape = describeShape(schema);
  const key: unknown = schema.get("versionKey");
  const ownKey = typeof key === "string" ? key : undefined;
  const versionKey = level.link?.embedded ? above.at(-1)?.versionKey : ownKey;
  checkConcurrency(methods, { ...level, versionKey });
  const { target, link } = level;
  const own = methods.map((method): Route => {
    const { operation: name, hooks } = method;
    const operation = OPERATIONS[name];
    const { parameters = [] } = hooks;
    const problem = exampleProblem(method, shape);
    if (problem !== undefined) throw cannotMount(target, problem);
    const acting: Level = {
      ...level,
      versionKey,
      shape,
      operation: name,
      hooks: hooks as Hooks<object>,
      parameters,
      reads: compileReads(method, { target, schema, shape, embedded: link?.embedded === true }),
    };
    const path = operation.item ? item : base;
    return { path, operation, levels: [...above, acting], ...shared };
  });
  const parent = own.find(({ levels }) => levels.at(-1)?.operation === "one");
  const below = describeParts(level.target).flatMap((part) => {
    const path = checkPartRest(part);
    // Models may refer to each other: each property appears at most once per path.
    if (parent === undefined || parent.levels.some((each) => isSame(each, part))) return [];
    const base = `${parent.path}${path}`;
    return branchRoutes(partBranch(part, { base, above: parent.levels }), shared);
  });
  return [...own, ...below];
}

/** What a property holds, below the route that shows its parent. */
function partBranch(
  { link, target, rest }: PartDescription,
  { base, above }: Pick<Branch, "base" | "above">,
): Branch {
  // The parameters of nested identifiers: `id`, `subId`, `subId2`, `subId3`.
  const parameter = above.length === 1 ? "subId" : `subId${above.length}`;
  const scopes = rest.scope === undefined ? scopesOf(target) : [rest.scope];
  return {
    methods: rest.methods,
    base,
    item: link.array ? `${base}/:${parameter}` : base,
    above,
    level: {
      ...{ target, scopes, link, concurrency: rest.concurrency },
      ...link.array && { parameter },
    },
  };
}

export function isSame(level: Level, { link }: PartDescription): boolean {
  return level.link?.owner === link.owner && level.link.property === link.property;
}
