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
 * The code of an option of `@rest` that applies wherever entities of the class are read or written, such as a filter
 * for deleted entities. References of other classes apply the option too. All `@rest` decorators of a class must have
 * the same value of the option, because otherwise an entity could be read by one route and hidden by another.
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
  /**
   * Reads and checks the option when the class is first used. Throws an error that names the class if the option is
   * wrong.
   */
  check(option: OptionReader): R;
  /** Adds fields and indexes to the schema of the class. */
  schema?(rule: R, schema: Schema): void;
  /**
   * Returns the condition that an entity must match to be read or written. The framework applies the condition in
   * addition to the option `scope`, in routes, in references of bodies, in populated references and in `queryFor()`.
   */
  condition?(rule: R, req: FrameworkRequest): MaybePromise<QueryObject>;
  /** Returns the values that the framework sets on an entity before each write, such as the name of the writer. */
  stamps?(rule: R, write: StampedWrite): Readonly<Record<string, unknown>>;
  /**
   * Sends further statements to the database in the transaction of each write, such as an entry of an audit log. Both
   * are stored or none of them. A class with this method needs a database with transactions.
   */
  together?(rule: R, write: TogetherWrite): Promise<void>;
}

/** A write that has not been sent to the database yet, for which a feature returns further values to store. */
export interface StampedWrite {
  readonly req: FrameworkRequest;
  readonly isNew: boolean;
}

/**
 * A write that was sent to the database in a transaction that is still open. Further statements of the session belong
 * to the same transaction.
 */
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
    leftOut: [],
    fail: (problem) => cannotMount(target, problem),
    // This object is made while the schema of its class is being built. The getters look up the schema later, because
    // an earlier look-up would build the schema again without an end.
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

/**
 * Returns the conditions of the class options as functions of the same form as the option `scope`, so that every read
 * and write of the class applies them.
 */
export function scopesOfRules(rules: readonly ClassRule[]): Scope[] {
  return rules.flatMap(({ feature, rule }) =>
    feature.condition === undefined
      ? []
      : [((req: FrameworkRequest) => feature.condition?.(rule, req) ?? {}) as Scope]
  );
}

/**
 * Returns the work that the class options add to each write of a request, such as the name of the writer. Returns
 * `undefined` if no option adds work, so that the write may be sent without a document and a transaction.
 */
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
