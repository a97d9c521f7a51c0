import type { ClientSession, Model, mongo, Schema } from "mongoose";
import type { Actor, FrameworkRequest, QueryObject } from "../declare/hooks/framework_request.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { RestRecord } from "../declare/model/records.ts";
import type { PartDescription } from "../schema/describe_parts.ts";
import { inspect, isDeepStrictEqual } from "node:util";
import { buildSchema } from "../schema/build_schema.ts";
import type { Filter } from "../filter/filters.ts";
import { shapeForAll } from "../schema/fields/shape.ts";
import type { Stamps, WriteDuties, WrittenEntities } from "../sources/write_duties.ts";
import type { Method } from "../declare/operations/methods.ts";
import type { ClassMethod, PartMethod } from "./class_methods.ts";
import type { ParameterFacts, Withheld } from "./description.ts";
import type { JoinedClass } from "./joined_class.ts";
import type { Call, LevelContext } from "./request/request_context.ts";
import type { Route } from "./request/route.ts";
import { cannotMount, type OptionPlace, OptionReader } from "./option_reader.ts";

/**
 * The code of an option of `@rest` that applies wherever entities of the class are read or written, such as a filter
 * for deleted entities. References of other classes apply the option too. The option of one `@rest`
 * applies to all routes of the class, because otherwise an entity could be read by one route and hidden by another.
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
  readonly name: string;
  /** Checks the option of `Framework.initialize()` that the class option needs, such as the function `tenant`. */
  settings?(given: unknown): unknown;
  /** The name of the option of `Framework.initialize()` if it is not `name`, such as `limits.cascade` for `onDelete`. */
  readonly setting?: string;
  /** Checks the option when the class is first used. Throws an error that names the class if it is wrong. */
  check(option: OptionReader, target: ModelClass): R;
  /**
   * Returns the value of an option that no `@rest` declares, such as `onDelete`, which stands in the options of
   * reference fields. Embedded classes, which need no `@rest`, can have the option too. Returns `undefined` if the
   * class has no such option.
   */
  declared?(target: ModelClass): unknown;
  /** Runs at start-up for each class of a route without the option, such as to refuse a class without `tenant`. */
  startWithout?(place: { readonly target: ModelClass; readonly route: Route }): void;
  /** Throws at start-up if a route cannot serve the option, such as a route with a `persist` hook for `history`. */
  start?(rule: R, place: { readonly target: ModelClass; readonly route: Route }): void;
  /** Returns the actions on one entity that the option adds to a `@rest` of the class, such as `restore`. */
  methods?(rule: R, rest: RestRecord): readonly ClassMethod[];
  /**
   * Returns the operations on a property that holds one entity of the class, such as the upload of a file, in the place
   * of the operations in its `@rest`. Throws if the property cannot have one of these operations. Returns `undefined`
   * if the property has the usual operations.
   */
  partMethods?(rule: R, part: PartDescription): readonly PartMethod[] | undefined;
  /** Adds fields and indexes to the schema of the class before its method `configure()`, such as `deletedAt`. */
  schema?(rule: R, schema: Schema): void;
  /** Changes the indexes after `configure()` of the class, such as to let each tenant have the same unique value. */
  indexes?(rule: R, schema: Schema): void;
  /**
   * Returns the condition that an entity must match to be read or written. The framework applies the condition in
   * addition to the option `scope`, in routes, in references of bodies, in populated references and in `queryFor()`.
   */
  condition?(rule: R, req: FrameworkRequest, reach: Reach): MaybePromise<QueryObject>;
  /**
   * Returns the field whose value is a condition of each statement of the class, such as the field of the tenant. The
   * hints about missing indexes ask for indexes that begin with this field.
   */
  selecting?(rule: R): string;
  /** The query parameter that the option adds to routes, such as `trash`, which asks for entities in the trash. */
  readonly parameter?: {
    readonly name: string;
    readonly facts: ParameterFacts;
    /** Whether an operation has the query parameter. For example, `all()` has `trash`, but `create()` does not. */
    isOf(rule: R, method: Method): boolean;
  };
  /** Returns the fields and parameters of the option that descriptions of routes do not show to the sender of `req`. */
  withheld?(rule: R, req: FrameworkRequest): Withheld;
  /** Checks a request after the `preFetch` hooks. May throw, and may add conditions to the filter of the request. */
  admit?(rule: R, call: Call): void;
  /**
   * Runs after the `preFetch` hooks of a request, for each class of its route without the option. For example, `tenant`
   * prepares the request, because references may lead from this class to a class with the option.
   */
  admitWithout?(call: Call): void;
  /**
   * Returns the values that the framework stores in an entity instead of removing it, such as the time of the removal.
   * Returns `undefined` if the request removes the entity for good.
   */
  removal?(
    rule: R,
    write: RemovalRequest,
  ): Readonly<Record<string, unknown>> | undefined;
  removalFields?(rule: R): RemovalFields;
  /**
   * Returns the values that the framework stores with each write of an entity, such as the sender of the request. The
   * method must cast them to the types of their fields. The value `undefined` removes a field.
   */
  stamps?(rule: R, write: StampedWrite): Readonly<Record<string, unknown>>;
  /** Returns the names of the fields that `stamps` may set, so that other writes keep their stored values. */
  stamped?(rule: R): readonly string[];
  /**
   * Sends further statements to the database in the transaction of each write, such as an entry of an audit log. The
   * write and these statements are stored together or not at all. A class with this method needs a database with
   * transactions.
   */
  together?(rule: R, write: TogetherWrite): Promise<void>;
  /** Begins to build indexes for {@linkcode ClassFeature.together}. Runs before a batch begins its transaction. */
  build?(rule: R, model: Model<unknown>): void;
  /** Returns the other classes that {@linkcode ClassFeature.together} may read or write. */
  writes?(rule: R, target: ModelClass): readonly ModelClass[];
  /** Returns the function by which housekeeping removes expired data of the class. */
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

/** The fields that a removal into the trash sets in the entity, such as the time of the removal. */
export interface RemovalFields {
  readonly time: string;
  readonly actor: string;
  /** The field that tells the removals of one request from all others. */
  readonly removalId: string;
  readonly all: readonly string[];
}

/**
 * Removes a portion of the expired entities of a class. Returns the number of removed entities. The framework calls the
 * function again until it returns 0.
 */
export type Tidy = (expired: TidyPortion) => Promise<number>;

export interface TidyPortion {
  readonly model: Model<unknown>;
  /** The time at which an entity counts as expired. It is the current time, unless a test asks for another time. */
  readonly at: Date;
  readonly limit: number;
  /**
   * Removes entities of the class that match a filter for good, up to `limit`. The further statements of class options
   * run in the transaction of the removal, as for a removal by a route. Returns the number of removed entities.
   */
  remove(filter: Filter): Promise<number>;
}

/** A successful write, for class options with work after it, such as removing the files of removed entities. */
export interface DoneWrite {
  readonly route: Route;
  /** The lowest level of the route whose entities are documents of a collection. Levels below it hold their parts. */
  readonly context: LevelContext;
  /** The number of entities that the removal of many entities has removed. Missing for other operations. */
  readonly affected?: number | undefined;
}

export async function runAfter(rules: readonly ClassRule[], write: DoneWrite): Promise<void> {
  for (const { feature, rule } of rules) await feature.after?.(rule, write);
}

/** A write before its statement, for which class options return further values to store, such as its sender. */
export interface StampedWrite {
  readonly req: FrameworkRequest;
  readonly actor: Actor | undefined;
  readonly isNew: boolean;
  readonly schema: Schema;
}

/** A write in an open transaction, in which class options send further statements. */
export interface TogetherWrite extends WrittenEntities {
  /** The request that has caused the write. Missing if the framework has removed expired entities. */
  readonly req?: FrameworkRequest | undefined;
  /** The sender of the request. Missing if the option `actor` of `Framework.initialize()` returned no sender. */
  readonly actor: Actor | undefined;
  readonly target: ModelClass;
  /** The name of the operation or action. A write of a part also names the property, as in `comments.create`. */
  readonly operation: string;
  readonly session: ClientSession;
  /** The facts about the request that further statements need. Missing if the framework removed expired entities. */
  readonly request?: JoinedRequest | undefined;
}

/** The facts about a request that class options need to send further statements in the transactions of its writes. */
export interface JoinedRequest {
  readonly req: FrameworkRequest;
  readonly actor: Actor | undefined;
  readonly route: Route;
  /** The time of the request. All removals of a transaction store the same time. */
  readonly at: Date;
  /** The identifier that the removals of this request and its cascades store, because requests can have equal times. */
  readonly removalId: mongo.ObjectId;
  /**
   * The write for which the client has sent the request, such as the removal of a movie, if the present write follows
   * from it, such as the removal of its comments. The limit `maxCascade` counts all removals with the same origin.
   * Missing for the write for which the client has sent the request.
   */
  readonly origin: TogetherWrite | undefined;
  /**
   * Returns the object by which a class option writes entities of another class in the transaction of `from`. The
   * history records these writes under the operation in `place`.
   */
  open(from: TogetherWrite, place: JoinedPlace): Promise<JoinedClass>;
}

export type RemovalRequest = Pick<JoinedRequest, "req" | "actor" | "at" | "removalId">;

/** The class whose entities a class option writes in the transaction of another write, and the operation in the history. */
export interface JoinedPlace extends Pick<TogetherWrite, "target" | "operation"> {
  /**
   * The way by which the writes that a class option adds to a request reach the entities of the class. With `"route"`,
   * they reach entities in the trash if the request does, such as a restoration.
   *
   * @default {"reference"}
   */
  readonly reach?: Reach | undefined;
}

type Scope = NonNullable<RestRecord["scope"]>;

/**
 * The way by which a request reaches the entities of a class. With `"route"`, the request is on a route of the class,
 * and can ask for entities in the trash. With `"reference"`, an entity of another class refers to them, or code of the
 * application asks for them, and entities in the trash stay hidden. `"everyone"` also reaches the entities of other
 * tenants, for the question whether any entity refers to another one.
 */
export type Reach = "route" | "reference" | "everyone";

export interface ClassRule {
  readonly feature: ClassFeature;
  readonly rule: unknown;
}

/** Reads the class options of a class. Throws if two `@rest` of the class have different values of an option. */
export function readClassRules(
  all: readonly ClassFeature[],
  target: ModelClass,
): readonly ClassRule[] {
  const { rests } = describeModel(target);
  return all.flatMap((feature) => {
    const { name } = feature;
    const valueIn = (rest?: RestRecord): unknown => rest?.[name as keyof RestRecord];
    const [first, ...others] = rests.filter((each) => valueIn(each) !== undefined);
    const value = feature.declared === undefined ? valueIn(first) : feature.declared(target);
    const other = others.find((each) => !isDeepStrictEqual(valueIn(each), valueIn(first)));
    if (other !== undefined) {
      const [one, two] = [first, other].map((each) =>
        `${inspect(valueIn(each), { breakLength: Infinity })} for "${each?.route}"`
      );
      throw cannotMount(
        target,
        `its @rest decorators have different values of "${name}": ${one}, and ${two}`,
      );
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
    passed: [],
    skipsGuard: false,
    fail: (problem) => cannotMount(target, problem),
    // The place of an option is described while the schema of its class is being built. The getters look up the schema
    // later, because an earlier look-up would build the schema again without an end.
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

/** Returns `undefined` if the request removes entities for good. */
export function removalByRules(
  rules: readonly ClassRule[],
  write: RemovalRequest,
): (() => Stamps) | undefined {
  const kept = rules.map(({ feature, rule }) => feature.removal?.(rule, write))
    .filter((values) => values !== undefined);
  return kept.length === 0 ? undefined : () => Object.assign({}, ...kept);
}

/** Runs the start-up checks of the class options of one class, which is on the route or embedded in a class of it. */
export function startRules(
  rules: readonly ClassRule[],
  place: { readonly target: ModelClass; readonly route: Route },
): void {
  for (const { feature, rule } of rules) feature.start?.(rule, place);
}

/** Returns the values that the class options store with a write of an entity, such as the sender of the request. */
export function stampsOfRules(rules: readonly ClassRule[], write: StampedWrite): Stamps {
  return Object.assign(
    {},
    ...rules.map(({ feature, rule }) => feature.stamps?.(rule, write) ?? {}),
  );
}

export function stampedByRules(rules: readonly ClassRule[]): readonly string[] {
  return rules.flatMap(({ feature, rule }) => feature.stamped?.(rule) ?? []);
}

/** Returns the fields that a removal into the trash sets in an entity, or `undefined` for a class without trash. */
export function removalFieldsOf(rules: readonly ClassRule[]): RemovalFields | undefined {
  return rules.map(({ feature, rule }) => feature.removalFields?.(rule)).find((each) => each);
}

/**
 * Returns the class options that send further statements in the transaction of the given write, such as an entry of the
 * history.
 */
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

/** Returns the functions by which housekeeping removes expired entities, such as by the option `keep` of `trash`. */
export function tidiesOfRules(rules: readonly ClassRule[]): readonly Tidy[] {
  return rules.flatMap(({ feature, rule }) => feature.tidy?.(rule) ?? []);
}
