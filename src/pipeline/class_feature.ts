import type { ClientSession, Model, Schema } from "mongoose";
import type { Actor, FrameworkRequest, QueryObject } from "../declare/hooks/framework_request.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { RestRecord } from "../declare/model/records.ts";
import type { PartDescription } from "../schema/describe_parts.ts";
import { isDeepStrictEqual } from "node:util";
import { buildSchema } from "../schema/build_schema.ts";
import type { Filter } from "../filter/filters.ts";
import { shapeForAll } from "../schema/fields/shape.ts";
import type { Stamps, WriteDuties, WrittenEntities } from "../sources/write_duties.ts";
import type { Method } from "../declare/operations/methods.ts";
import type { ClassMethod, PartMethod } from "./class_methods.ts";
import type { ParameterFacts } from "./description.ts";
import type { JoinedClass } from "./joined_class.ts";
import type { Call, LevelContext } from "./request/request_context.ts";
import type { Route } from "./request/route.ts";
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
  /** Completes the option of the same name of `Framework.initialize()`, which all routes of a router share. */
  settings?(given: unknown): unknown;
  /** The name of the option of `Framework.initialize()` with the settings. By default, it is the name of the option. */
  readonly setting?: string;
  /**
   * Reads and checks the option when the class is first used. Throws an error that names the class if the option is
   * wrong.
   */
  check(option: OptionReader, target: ModelClass): R;
  /**
   * Returns the value of the option from other declarations of a class, such as options of its fields. `@rest` then has
   * no option of this name, and embedded classes can have the option too.
   */
  declared?(target: ModelClass): unknown;
  /** Runs when a router is mounted, for each class of a route without the option, such as to refuse the class. */
  startWithout?(place: { readonly target: ModelClass; readonly route: Route }): void;
  /** Runs when a router is mounted, to check the options of the router that the class option needs. */
  start?(rule: R, place: { readonly target: ModelClass; readonly route: Route }): void;
  /**
   * Returns further routes of the class, such as the versions of an entity, for one `@rest` of the class. Each route is
   * an action on one entity.
   */
  methods?(rule: R, rest: RestRecord): readonly ClassMethod[];
  /**
   * Returns the operations on a property that holds one entity of the class, such as the upload of a file. They replace
   * the operations in the `@rest` of the property. Throws if the property cannot have one of these operations. Returns
   * `undefined` if the property has the usual operations.
   */
  partMethods?(rule: R, part: PartDescription): readonly PartMethod[] | undefined;
  /** Adds fields and indexes to the schema of the class. */
  schema?(rule: R, schema: Schema): void;
  /** Changes or adds indexes of the class, after its method `configure()` has declared further indexes. */
  indexes?(rule: R, schema: Schema): void;
  /**
   * Returns the condition that an entity must match to be read or written. The framework applies the condition in
   * addition to the option `scope`, in routes, in references of bodies, in populated references and in `queryFor()`.
   */
  condition?(rule: R, req: FrameworkRequest, reach: Reach): MaybePromise<QueryObject>;
  /**
   * Returns the field by whose value each statement of the class selects, such as the field of the tenant. An index
   * serves these statements if it begins with the field.
   */
  selecting?(rule: R): string;
  /** The query parameter that the option adds to some routes of the class. */
  readonly parameter?: {
    readonly name: string;
    readonly facts: ParameterFacts;
    /** Whether the route of an operation of the class has the parameter. */
    isOf(rule: R, method: Method): boolean;
  };
  /**
   * Checks a request to a route of the class after the `preFetch` hooks. The method may throw an error for the client,
   * and may add conditions to the filter of the request.
   */
  admit?(rule: R, call: Call): void;
  /**
   * Runs after the `preFetch` hooks of a request, for each class of its route that does not have the option. Entities
   * of such a class may refer to entities of a class with the option.
   */
  admitWithout?(call: Call): void;
  /**
   * Returns the values that the framework stores in an entity instead of removing it, such as the time of the removal.
   * Returns `undefined` if the request removes the entity for good.
   */
  removal?(
    rule: R,
    write: Pick<JoinedRequest, "req" | "actor" | "at">,
  ): Readonly<Record<string, unknown>> | undefined;
  /** Returns the fields that {@linkcode ClassFeature.removal} sets in an entity. */
  removalFields?(rule: R): RemovalFields;
  /**
   * Returns the values that the framework stores with each write of an entity, such as the name of the writer. The
   * values must be cast to the types of their fields. The value `undefined` removes a field.
   */
  stamps?(rule: R, write: StampedWrite): Readonly<Record<string, unknown>>;
  /** Returns the names of the fields that {@linkcode ClassFeature.stamps} sets. */
  stamped?(rule: R): readonly string[];
  /**
   * Sends further statements to the database in the transaction of each write, such as an entry of an audit log. Both
   * are stored or none of them. A class with this method needs a database with transactions.
   */
  together?(rule: R, write: TogetherWrite): Promise<void>;
  /**
   * Returns the function that removes expired entities or other expired data of the class. Returns `undefined` if
   * nothing ever expires. The framework calls the function every few minutes in one of the processes of the
   * application, and `Framework.tidy()` calls it too.
   */
  tidy?(rule: R): Tidy | undefined;
  /**
   * Runs after a request has written entities of the class, or parts of them. The answer waits for the function. The
   * function must not throw, because the write cannot be undone.
   */
  after?(rule: R, write: DoneWrite): Promise<void>;
  /**
   * Whether {@linkcode ClassFeature.together} has statements for the writes of an operation, so that these writes need
   * a transaction. By default, all writes of the class need one.
   */
  joins?(rule: R, write: { readonly target: ModelClass; readonly operation: string }): boolean;
  /**
   * Returns the names of the fields whose updates need the statements of {@linkcode ClassFeature.together}, and so a
   * transaction. Updates that bring an entity back after a removal always need them. By default, all updates need them.
   */
  joinedFields?(rule: R, target: ModelClass): readonly string[];
}

/** The fields that a removal sets in an entity that stays in the database. */
export interface RemovalFields {
  /** The name of the field with the time of the removal. */
  readonly time: string;
  readonly all: readonly string[];
}

/**
 * Removes a portion of the expired entities of a class. Returns the number of removed entities. The framework calls the
 * function again until it returns 0.
 */
export type Tidy = (expired: TidyPortion) => Promise<number>;

/** The arguments of a {@linkcode Tidy}, which removes a portion of the expired entities. */
export interface TidyPortion {
  /** The model of the class on the default connection. */
  readonly model: Model<unknown>;
  /** The time at which an entity counts as expired. It is the current time, unless a test asks for another time. */
  readonly at: Date;
  /** The maximum number of entities that the call may remove. */
  readonly limit: number;
  /**
   * Removes the entities of the class that match a filter for good, up to the limit. The further statements of class
   * options run in the transaction of the removal, as for a removal by a route. Returns the number of removed entities.
   */
  remove(filter: Filter): Promise<number>;
}

/** A successful write of a request, for class options that work after it. */
export interface DoneWrite {
  readonly route: Route;
  /**
   * The level whose entities are documents of a collection. The request may have written parts of them, at a level
   * below.
   */
  readonly context: LevelContext;
  /** The number of entities that the removal of many entities has removed. Missing for other operations. */
  readonly affected?: number | undefined;
}

/** Runs the phase `after` of the class options of a class, when a request has written its entities. */
export async function runAfter(rules: readonly ClassRule[], write: DoneWrite): Promise<void> {
  for (const { feature, rule } of rules) await feature.after?.(rule, write);
}

/** A write that has not been sent to the database yet, for which a feature returns further values to store. */
export interface StampedWrite {
  readonly req: FrameworkRequest;
  readonly actor: Actor | undefined;
  readonly isNew: boolean;
  readonly schema: Schema;
}

/**
 * A write whose statement was sent in a transaction that is still open. Class options send further statements in the
 * same transaction, by its session.
 */
export interface TogetherWrite extends WrittenEntities {
  /** The request that has caused the write. Missing if the framework has removed expired entities. */
  readonly req?: FrameworkRequest | undefined;
  /** The sender of the request, if it is known. */
  readonly actor: Actor | undefined;
  /** The class of the entities. */
  readonly target: ModelClass;
  /**
   * The name of the operation, such as `update`, or of the action. A write of a part also names the property, as in
   * `comments.create`.
   */
  readonly operation: string;
  readonly session: ClientSession;
  /** The values of the request that has caused the write. Missing if the framework has removed expired entities. */
  readonly request?: JoinedRequest | undefined;
}

/** The facts about a request that class options need to send further statements in the transactions of its writes. */
export interface JoinedRequest {
  readonly req: FrameworkRequest;
  readonly actor: Actor | undefined;
  readonly route: Route;
  /** The time of the request. All removals of a transaction store the same time. */
  readonly at: Date;
  /** The first write of the transaction, if it has caused this write. Missing for the write of the request itself. */
  readonly origin: TogetherWrite | undefined;
  /** Returns a class for writes in the same transaction. The history records these writes with the given operation. */
  open(from: TogetherWrite, place: JoinedPlace): Promise<JoinedClass>;
}

/**
 * The class of further writes in a transaction, such as the removal of referring entities, and the name of their
 * operation in the history.
 */
export interface JoinedPlace extends Pick<TogetherWrite, "target" | "operation"> {
  /**
   * The way by which the conditions of class options apply. With `"route"`, entities in the trash can be restored.
   *
   * @default {"reference"}
   */
  readonly reach?: Reach | undefined;
}

type Scope = NonNullable<RestRecord["scope"]>;

/**
 * The way by which a request reaches the entities of a class. With `"route"`, the request is on a route of the class.
 * With `"reference"`, an entity of another class refers to them, or code of the application asks for them.
 */
export type Reach = "route" | "reference";

export interface ClassRule {
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
    const [value, ...others] = feature.declared === undefined
      ? rests.map((rest) => rest[name as keyof RestRecord] as unknown)
      : [feature.declared(target)];
    if (others.some((other) => !isDeepStrictEqual(other, value))) {
      throw cannotMount(target, `its @rest decorators have different values of "${name}"`);
    }
    if (value === undefined || value === false) return [];
    const option = new OptionReader(placeOf(target), { name, value });
    return [{ feature, rule: feature.check(option, target) }];
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

export function changeIndexesByRules(rules: readonly ClassRule[], schema: Schema): void {
  for (const { feature, rule } of rules) feature.indexes?.(rule, schema);
}

/**
 * Returns the conditions of the class options as functions of the same form as the option `scope`, so that every read
 * and write of the class applies them.
 */
export function scopesOfRules(rules: readonly ClassRule[], reach: Reach): Scope[] {
  return rules.flatMap(({ feature, rule }) =>
    feature.condition === undefined
      ? []
      : [((req: FrameworkRequest) => feature.condition?.(rule, req, reach) ?? {}) as Scope]
  );
}

/**
 * Returns the function that returns the values which the framework stores in an entity instead of removing it. Returns
 * `undefined` if the request removes entities for good.
 */
export function removalByRules(
  rules: readonly ClassRule[],
  write: Pick<JoinedRequest, "req" | "actor" | "at">,
): (() => Stamps) | undefined {
  const kept = rules.map(({ feature, rule }) => feature.removal?.(rule, write))
    .filter((values) => values !== undefined);
  return kept.length === 0 ? undefined : () => Object.assign({}, ...kept);
}

/** Runs the start-up checks of the class options for one of the classes of a route. */
export function startRules(
  rules: readonly ClassRule[],
  place: { readonly target: ModelClass; readonly route: Route },
): void {
  for (const { feature, rule } of rules) feature.start?.(rule, place);
}

/** Returns the values that the class options store with a write of an entity. */
export function stampsOfRules(rules: readonly ClassRule[], write: StampedWrite): Stamps {
  return Object.assign(
    {},
    ...rules.map(({ feature, rule }) => feature.stamps?.(rule, write) ?? {}),
  );
}

export function stampedByRules(rules: readonly ClassRule[]): readonly string[] {
  return rules.flatMap(({ feature, rule }) => feature.stamped?.(rule) ?? []);
}

/** Returns the fields that a removal sets in an entity, or `undefined` if it removes the entity from the database. */
export function removalFieldsOf(rules: readonly ClassRule[]): RemovalFields | undefined {
  return rules.map(({ feature, rule }) => feature.removalFields?.(rule)).find((each) => each);
}

/** Returns the class options that send further statements in the transaction of a write by the operation. */
export function joiningRules(
  rules: readonly ClassRule[],
  write: Pick<TogetherWrite, "operation" | "target">,
): ClassRule[] {
  return rules.filter(({ feature, rule }) =>
    feature.together !== undefined && feature.joins?.(rule, write) !== false
  );
}

/**
 * Returns the names of the fields whose updates need further statements of class options, and so a transaction. Returns
 * `undefined` if the updates of all fields need them.
 */
export function joinedFieldsOf(
  rules: readonly ClassRule[],
  write: Pick<TogetherWrite, "operation" | "target">,
): ReadonlySet<string> | undefined {
  const joined = joiningRules(rules, write).map(({ feature, rule }) =>
    feature.joinedFields?.(rule, write.target)
  );
  if (joined.includes(undefined)) return undefined;
  return new Set([...joined.flatMap((each) => each ?? []), ...removalFieldsOf(rules)?.all ?? []]);
}

/**
 * Returns the function that sends the statements that class options add to the transaction of a write, such as an entry
 * of an audit log. Returns `undefined` if no class option has such statements.
 */
export function joinedStatements(
  rules: readonly ClassRule[],
  { request, ...place }: JoinedPlace & { readonly request?: JoinedRequest },
): WriteDuties["together"] {
  const joining = joiningRules(rules, place);
  if (joining.length === 0) return undefined;
  return async (written, session) => {
    const { req, actor } = request ?? {};
    const write = { ...written, ...place, req, actor, session, request };
    for (const { feature, rule } of joining) await feature.together?.(rule, write);
  };
}

/** Returns the functions that remove expired entities by the class options of a class. */
export function tidiesOfRules(rules: readonly ClassRule[]): readonly Tidy[] {
  return rules.flatMap(({ feature, rule }) => feature.tidy?.(rule) ?? []);
}
