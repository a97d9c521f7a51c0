import mongoose from "mongoose";
import type { HookName, Hooks } from "../../declare/hooks/hooks.ts";
import { type NamedRule, namedRule } from "../../declare/hooks/named_fields.ts";
import { isHookName } from "../../declare/operations/operation.ts";
import { isEmpty } from "../../filter/filters.ts";
import { isSameForDatabase, projectionOf, withoutApart } from "../../filter/projection.ts";
import type { Selection } from "../../filter/selection.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/**
 * The decision how the entities of a request are read (plan). With `bytes`, stored bytes are converted to JSON text and
 * no objects are made. With `documents`, the entities are made as objects for hooks. `by` is the origin of their
 * values, which is the MongoDB driver, a query of Mongoose, or the `fetch` hook. `reason` is shown in the log.
 */
export type ReadPlan =
  & { readonly reason: string }
  & (
    | {
      readonly kind: "bytes";
      /**
       * Whether hooks run on the stored bytes of each entity. Such hooks name the fields that they read, so no objects
       * are made.
       */
      readonly isJudged: boolean;
    }
    | { readonly kind: "documents"; readonly by: "driver" | "mongoose" | "fetch" }
  );

/**
 * The properties of a route and of its model that decide whether a read returns JSON text or objects. The properties of
 * a single request can change this decision.
 */
export interface ReadFacts {
  readonly hooks: Hooks<object>;
  /** Whether the operation changes the entities, or is an action, which may change them. */
  readonly forChange: boolean;
  readonly isEmbedded: boolean;
  readonly shape: Shape;
  /** The reason why only Mongoose can read the model. `undefined` if the MongoDB driver can read the model directly. */
  readonly needsMongoose: string | undefined;
}

/**
 * The properties of one request that decide how entities are read, in addition to the properties of its route. For
 * example, a hook may set a query option that only Mongoose applies.
 */
export interface RequestFacts {
  readonly forChange: boolean;
  /**
   * Whether the operation needs the entities as objects although no hook gets them. An update, for example, changes and
   * saves the objects.
   */
  readonly needsEntities?: boolean;
  readonly selection: Pick<Selection, "options" | "projection">;
  readonly shape: Shape;
  /** The fields that the client selects. `undefined` if the client gets all fields. */
  readonly select: readonly string[] | undefined;
}

/** The query options that the MongoDB driver accepts unchanged. A query with any other option is run by Mongoose. */
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
 * Decides how a route reads the entities of its model. {@linkcode downgradePlan} changes this decision if the options
 * of a request require it.
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

/**
 * The hooks of a read that get entities. If each of them names the fields that it reads, the read makes no objects of
 * entities.
 */
const READ_HOOKS = ["postFetch", "preSend"] as const;

/**
 * Whether all hooks that get entities are hooks of a read and name the fields that they read. No entity has to be made
 * as an object for such hooks.
 */
export function nameTheirFields(hooks: Hooks<object>): boolean {
  const { postFetch, preSend, ...others } = hooks;
  return entityHook(others) === undefined &&
    [postFetch, preSend].every((hook) => hook === undefined || namedRule(hook) !== undefined);
}

/**
 * Returns the hooks of a read that name the fields which they read, in the order in which the hooks run. Such a hook is
 * returned as a rule, which needs no entity.
 */
export function namedRulesOf(hooks: Hooks<object>): { name: HookName; rule: NamedRule }[] {
  return READ_HOOKS.flatMap((name) => {
    const rule = namedRule(hooks[name]);
    return rule === undefined ? [] : [{ name, rule }];
  });
}

/**
 * Returns the name of the first hook that gets entities or replaces how they are read or written. Returns `undefined`
 * if no hook needs entities as objects, so that faster reads and writes without objects are possible.
 */
export function entityHook(hooks: Hooks<object>): string | undefined {
  return Object.entries(hooks).find(([name, hook]) =>
    hook !== undefined && name !== "preFetch" && isHookName(name)
  )?.[0];
}

/**
 * Decides how one request reads entities. If the request has an option that the read of its route cannot apply, the
 * request is read as objects and not as JSON text, or by Mongoose and not by the driver.
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

/**
 * Returns the reason why a request must read entities as objects. Returns `undefined` if JSON text can be made from the
 * stored bytes.
 */
function whyEntities(
  { needsEntities = false, selection, shape, select }: RequestFacts,
): string | undefined {
  if (needsEntities) return "the request needs entities";
  const { options, projection } = selection;
  if (options.lean !== undefined) return "a hook has set options.lean";
  // The projection of a hook may hide a field that the client selects. A read of bytes uses only the fields in
  // `select`, and would show the hidden field.
  if (select !== undefined && !isEmpty(projection)) return "the client selects from a projection";
  const shown = select === undefined ? withoutApart(projection, shape) : projectionOf(select);
  return whyNotDriver({ options, projection: shown }, shape);
}

/**
 * Returns the reason why only Mongoose can read the entities of a request. Returns `undefined` if the MongoDB driver
 * can read them.
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
