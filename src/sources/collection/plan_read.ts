import mongoose from "mongoose";
import type { HookName, Hooks } from "../../declare/hooks/hooks.ts";
import { type NamedRule, namedRule } from "../../declare/hooks/named_fields.ts";
import { isHookName } from "../../declare/operations/operation.ts";
import { isEmpty } from "../../filter/filters.ts";
import { isSameForDatabase, projectionOf, withoutApart } from "../../filter/projection.ts";
import type { Selection } from "../../filter/selection.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/**
 * The plan of a read decides how the read makes its answer. The plan `bytes` writes JSON from BSON, without entities.
 * The plan `documents` makes entities for hooks. The entities come from the `fetch` hook, from the values of the
 * driver, or from Mongoose.
 */
export type ReadPlan =
  & { readonly reason: string }
  & (
    | {
      readonly kind: "bytes";
      /** Whether hooks that name their fields run for each entity. */
      readonly isJudged: boolean;
    }
    | { readonly kind: "documents"; readonly by: "driver" | "mongoose" | "fetch" }
  );

/** The properties of a level and of its compiled model that decide how entities are read. */
export interface ReadFacts {
  readonly hooks: Hooks<object>;
  /** Whether the entities are read to be changed, or for an action, which may change them. */
  readonly forChange: boolean;
  readonly isEmbedded: boolean;
  readonly shape: Shape;
  /** The reason why only Mongoose can read the model. `undefined` if the driver can read the model. */
  readonly needsMongoose: string | undefined;
}

/**
 * The properties of one request that can make entities or Mongoose necessary, although the plan of the level needs
 * neither.
 */
export interface RequestFacts {
  readonly forChange: boolean;
  /** Whether the caller needs entities, although no hook gets them, so that the plan cannot be bytes. */
  readonly needsEntities?: boolean;
  readonly selection: Pick<Selection, "options" | "projection">;
  readonly shape: Shape;
  /** The fields that the client selects. `undefined` if the client makes no selection and gets all fields. */
  readonly select: readonly string[] | undefined;
}

/** The query options that the driver takes unchanged. Mongoose has to run a query with any other option. */
const DRIVER_OPTIONS: ReadonlySet<string> = new Set([
  "skip",
  "limit",
  "sort",
  "maxTimeMS",
  "hint",
  "comment",
  "strictQuery",
  "collation",
  "batchSize",
  "enableUtf8Validation",
  "readPreference",
]);

/**
 * Returns the plan by which a level reads the entities of its model, before the options of a request are known.
 * {@linkcode downgradePlan} adapts the plan to a request.
 */
export function planRead(
  { hooks, forChange, isEmbedded, shape, needsMongoose }: ReadFacts,
): ReadPlan {
  const kind = "documents";
  if (hooks.fetch !== undefined) return { kind, by: "fetch", reason: "the hook fetch reads" };
  if (isEmbedded) return { kind, by: "mongoose", reason: "a parent embeds the entities" };
  if (needsMongoose !== undefined) return { kind, by: "mongoose", reason: needsMongoose };
  if (forChange && shape.apart.length > 0) {
    return { kind, by: "mongoose", reason: "Mongoose must know which properties were not read" };
  }
  if (forChange) return { kind, by: "driver", reason: "the operation changes entities" };
  const hook = entityHook(hooks);
  if (hook !== undefined && !nameTheirFields(hooks)) {
    return { kind, by: "driver", reason: `the hook ${hook} gets each entity` };
  }
  if (hooks.lean === true) return { kind, by: "driver", reason: "lean makes instances" };
  return hook === undefined
    ? { kind: "bytes", isJudged: false, reason: "no hook gets an entity" }
    : {
      kind: "bytes",
      isJudged: true,
      reason: `the hook ${hook} reads only the fields that it names`,
    };
}

/** The hooks of a read that get entities. */
const READ_HOOKS = ["postFetch", "preSend"] as const;

/**
 * Whether all hooks that get entities are hooks of a read that name their fields, so that no entity has to be made for
 * them.
 */
export function nameTheirFields(hooks: Hooks<object>): boolean {
  const { postFetch, preSend, ...others } = hooks;
  return entityHook(others) === undefined &&
    [postFetch, preSend].every((hook) => hook === undefined || namedRule(hook) !== undefined);
}

/** Returns the rules of the hooks of a read, in the order in which the hooks run. */
export function namedRulesOf(hooks: Hooks<object>): { name: HookName; rule: NamedRule }[] {
  return READ_HOOKS.flatMap((name) => {
    const rule = namedRule(hooks[name]);
    return rule === undefined ? [] : [{ name, rule }];
  });
}

/**
 * Returns the name of the first hook that gets entities or replaces how they are read or written. Returns `undefined`
 * if no hook needs entities, so that bytes or one statement may suffice.
 */
export function entityHook(hooks: Hooks<object>): string | undefined {
  return Object.entries(hooks).find(([name, hook]) =>
    hook !== undefined && name !== "preFetch" && isHookName(name)
  )?.[0];
}

/**
 * Returns the plan for one request. If the request needs more than the plan of the level allows, the read changes from
 * bytes to values of the driver, or from values of the driver to Mongoose.
 */
export function downgradePlan(plan: ReadPlan, request: RequestFacts): ReadPlan {
  if (plan.kind === "documents" && plan.by !== "driver") return plan;
  const reason = plan.kind === "bytes" ? whyEntities(request) : plan.reason;
  if (reason === undefined) return plan;
  const onlyMongoose = whyMongoose(request);
  return onlyMongoose === undefined
    ? { kind: "documents", by: "driver", reason }
    : { kind: "documents", by: "mongoose", reason: onlyMongoose };
}

/** Returns the reason why a request needs entities. Returns `undefined` if a read of bytes can answer the request. */
function whyEntities(
  { needsEntities = false, selection, shape, select }: RequestFacts,
): string | undefined {
  if (needsEntities) return "the request needs entities";
  const { options, projection } = selection;
  if (options.lean !== undefined) return "a hook has set options.lean";
  // The projection of a hook may leave out a field that the client selects. A read of bytes would use only the fields
  // in `select` as its projection, and would show the field.
  if (select !== undefined && !isEmpty(projection)) return "the client selects from a projection";
  const shown = select === undefined ? withoutApart(projection, shape) : projectionOf(select);
  return whyNotDriver({ options, projection: shown }, shape);
}

/**
 * Returns the reason why only Mongoose can make the entities of a request. Returns `undefined` if entities can be made
 * from the values of the driver.
 */
function whyMongoose({ forChange, selection, shape }: RequestFacts): string | undefined {
  const { options, projection } = selection;
  if (mongoose.get("transactionAsyncLocalStorage")) {
    return "Mongoose reads in the transaction around the request";
  }
  const isWhole = forChange || options.lean === true;
  if (!isWhole && options.lean !== undefined) return "a hook has set options.lean";
  if (!isWhole && !isEmpty(projection)) return "Mongoose projects documents";
  const read = forChange ? {} : projection;
  return whyNotDriver({ options, projection: withoutApart(read, shape) }, shape);
}

function whyNotDriver({ options, projection }: RequestFacts["selection"], shape: Shape) {
  const other = Object.keys(options).find((name) => name !== "lean" && !DRIVER_OPTIONS.has(name));
  if (other !== undefined) return `only Mongoose takes options.${other}`;
  return isSameForDatabase(projection, shape)
    ? undefined
    : "the database reads the projection otherwise";
}
