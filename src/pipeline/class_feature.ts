import type { ClientSession, Schema } from "mongoose";
import type { FrameworkRequest, QueryObject } from "../declare/hooks/framework_request.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { RestRecord } from "../declare/model/records.ts";
import { isDeepStrictEqual } from "node:util";
import { buildSchema } from "../schema/build_schema.ts";
import { shapeForAll } from "../schema/fields/shape.ts";
import type { WriteDuties, WrittenEntities } from "../sources/write_duties.ts";
import { cannotMount, type OptionPlace, OptionReader } from "./option_reader.ts";

/**
 * An option of `@rest` on a class that applies wherever the class is read or written, by any route and by references of
 * other classes. All `@rest` of a class must have equal values of the option.
 *
 * @example Entities that only their shop can see
 * ```ts ignore
 * const shop: ClassFeature<{ readonly field: string }> = {
 *   name: "shop",
 *   check: (option) => ({ field: String(option.value) }),
 *   schema: ({ field }, schema) => void schema.index({ [field]: 1 }),
 *   condition: ({ field }, req) => ({ [field]: req.headers["x-shop"] }),
 * };
 * ```
 */
export interface ClassFeature<R = unknown> {
  /** The name of the option. */
  readonly name: string;
  /** Reads the option when the class is first used. Throws if the option is wrong. */
  check(option: OptionReader): R;
  /** Adds fields and indexes to the schema of the class. */
  schema?(rule: R, schema: Schema): void;
  /**
   * Returns the condition that an entity must match to be read or written, like a scope. Routes, references in bodies,
   * populated references and `queryFor()` apply the condition.
   */
  condition?(rule: R, req: FrameworkRequest): MaybePromise<QueryObject>;
  /** Returns the values that the framework sets on an entity before each write, such as the name of the writer. */
  stamps?(rule: R, write: StampedWrite): Readonly<Record<string, unknown>>;
  /**
   * Sends further statements in the transaction of each write, such as a record of the change. A class with such a
   * feature needs a database with transactions.
   */
  together?(rule: R, write: TogetherWrite): Promise<void>;
}

/** A write before its statement. */
export interface StampedWrite {
  readonly req: FrameworkRequest;
  readonly isNew: boolean;
}

/** A write after its statement, in the same transaction. */
export interface TogetherWrite extends WrittenEntities {
  readonly req: FrameworkRequest;
  readonly session: ClientSession;
}

type Scope = NonNullable<RestRecord["scope"]>;

interface ClassRule {
  readonly feature: ClassFeature;
  readonly rule: unknown;
}

/** Reads the class options of all `@rest` of a class. Throws if two `@rest` have different values of an option. */
export function readClassRules(
  all: readonly ClassFeature[],
  target: ModelClass,
): readonly ClassRule[] {
  const { rests } = describeModel(target);
  return all.flatMap((feature) => {
    const { name } = feature;
    const [value, ...others] = rests.map((rest) => rest[name as keyof RestRecord] as unknown);
    if (others.some((other) => !isDeepStrictEqual(other, value))) {
      throw cannotMount(target, `its @rest decorators have different values of "${name}"`);
    }
    if (value === undefined || value === false) return [];
    return [{ feature, rule: feature.check(new OptionReader(placeOf(target), { name, value })) }];
  });
}

function placeOf(target: ModelClass): OptionPlace {
  return {
    target,
    link: undefined,
    isDivided: false,
    methods: [],
    fail: (problem) => cannotMount(target, problem),
    // A class option is read while the schema of its class is built, so the schema is looked up later.
    get schema() {
      return buildSchema(target).schema;
    },
    get shape() {
      return shapeForAll(buildSchema(target).schema);
    },
  };
}

export function addRulesToSchema(rules: readonly ClassRule[], schema: Schema): void {
  for (const { feature, rule } of rules) feature.schema?.(rule, schema);
}

/** Returns the conditions of a class as scopes, which bind every read and write of its entities. */
export function scopesOfRules(rules: readonly ClassRule[]): Scope[] {
  return rules.flatMap(({ feature, rule }) =>
    feature.condition === undefined
      ? []
      : [((req: FrameworkRequest) => feature.condition?.(rule, req) ?? {}) as Scope]
  );
}

/** Returns the work that the features of a class add to each write of a request. */
export function dutiesOfRules(
  rules: readonly ClassRule[],
  req: FrameworkRequest,
): WriteDuties | undefined {
  const stamping = rules.filter(({ feature }) => feature.stamps !== undefined);
  const joining = rules.filter(({ feature }) => feature.together !== undefined);
  if (stamping.length === 0 && joining.length === 0) return undefined;
  return {
    stamp(doc) {
      for (const { feature, rule } of stamping) {
        doc.set(feature.stamps?.(rule, { req, isNew: doc.isNew }) as object);
      }
    },
    ...joining.length > 0 && {
      async together(written, session) {
        for (const { feature, rule } of joining) {
          await feature.together?.(rule, { ...written, req, session });
        }
      },
    },
  };
}
