import type { Schema } from "mongoose";
import type { FrameworkRequest, QueryObject } from "../declare/hooks/framework_request.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { RestRecord } from "../declare/model/records.ts";
import { isDeepStrictEqual } from "node:util";
import { buildSchema } from "../schema/build_schema.ts";
import { shapeForAll } from "../schema/fields/shape.ts";
import { cannotMount, type OptionPlace, OptionReader } from "./option_reader.ts";

/**
 * An option of `@rest` on a class that applies wherever the class is read or written, by any route and by references of
 * other classes. All `@rest` of a class must have equal values of the option.
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
