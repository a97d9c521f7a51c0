import mongoose from "mongoose";
import type { HookName, Hooks } from "../../declare/hooks/hooks.ts";
import { type FieldHook, fieldHookOf } from "../../declare/hooks/named_fields.ts";
import { isHookName } from "../../declare/operations/operation.ts";
import { isEmpty } from "../../filter/filters.ts";
import { isSameForDatabase, projectionOf, withoutApart } from "../../filter/projection.ts";
import type { Selection } from "../../filter/selection.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/** `bytes` makes no objects, and `reason` is for the log. */
export type ReadPlan =
  & { readonly reason: string }
  & (
    | {
      readonly kind: "bytes";
      /** `true` for hooks that name their fields, which get values from the bytes. */
      readonly runsHooks: boolean;
    }
    | { readonly kind: "documents"; readonly by: "driver" | "mongoose" | "fetch" }
  );

export interface ReadFacts {
  readonly hooks: Hooks<object>;
  readonly forChange: boolean;
  readonly isEmbedded: boolean;
  readonly shape: Shape;
  readonly needsMongoose: string | undefined;
}

export interface RequestFacts {
  readonly forChange: boolean;
  readonly needsEntities?: boolean;
  readonly selection: Pick<Selection, "options" | "projection">;
  readonly shape: Shape;
  readonly select: readonly string[] | undefined;
}

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
    ? { kind: "bytes", runsHooks: false, reason: "no hook gets an entity" }
    : {
      kind: "bytes",
      runsHooks: true,
      reason: `the hook ${hook} reads only the fields that it names`,
    };
}

const READ_HOOKS = ["postFetch", "preSend"] as const;

export function nameTheirFields(hooks: Hooks<object>): boolean {
  const { postFetch, preSend, ...others } = hooks;
  return entityHook(others) === undefined &&
    [postFetch, preSend].every((hook) => hook === undefined || fieldHookOf(hook) !== undefined);
}

export function namedFieldHooks(hooks: Hooks<object>): { name: HookName; hook: FieldHook }[] {
  return READ_HOOKS.flatMap((name) => {
    const hook = fieldHookOf(hooks[name]);
    return hook === undefined ? [] : [{ name, hook }];
  });
}

export function entityHook(hooks: Hooks<object>): string | undefined {
  return Object.entries(hooks).find(([name, hook]) =>
    hook !== undefined && name !== "preFetch" && isHookName(name)
  )?.[0];
}

export function downgradePlan(plan: ReadPlan, request: RequestFacts): ReadPlan {
  if (plan.kind === "documents" && plan.by !== "driver") return plan;
  const reason = plan.kind === "bytes" ? whyEntities(request) : plan.reason;
  if (reason === undefined) return plan;
  const onlyMongoose = whyMongoose(request);
  return onlyMongoose === undefined
    ? { kind: "documents", by: "driver", reason }
    : { kind: "documents", by: "mongoose", reason: onlyMongoose };
}

function whyEntities(
  { needsEntities = false, selection, shape, select }: RequestFacts,
): string | undefined {
  if (needsEntities) return "the request needs entities";
  const { options, projection } = selection;
  if (options.lean !== undefined) return "a hook has set options.lean";
  // The projection of a hook may hide a field that the client selects, but a read of bytes would apply only `select`.
  if (select !== undefined && !isEmpty(projection)) return "the client selects from a projection";
  const shown = select === undefined ? withoutApart(projection, shape) : projectionOf(select);
  return whyNotDriver({ options, projection: shown }, shape);
}

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
