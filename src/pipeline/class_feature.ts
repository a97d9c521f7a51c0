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
import type { Stamps } from "../store/values.ts";
import type { TransactionRule, WrittenEntities } from "../store/writes/transact.ts";
import type { Method } from "../declare/operations/methods.ts";
import type { ClassMethod, PartMethod } from "./class_methods.ts";
import type { ParameterFacts, Withheld } from "./description.ts";
import type { JoinedClass } from "./joined_class.ts";
import type { Call, LevelContext } from "./request/request_context.ts";
import type { Route } from "./request/route.ts";
import { cannotMount, type OptionPlace, OptionReader } from "./option_reader.ts";

/**
 * The code of an option of `@rest` that applies wherever entities of the class are read or written, also in references.
 * The option of one `@rest` applies to all routes of the class, because otherwise one route could show an entity that
 * another hides.
 */
export interface ClassFeature<R = unknown> {
  readonly name: string;
  /** Checks the option of `Framework.initialize()` that the class option needs. */
  settings?(given: unknown): unknown;
  /** The name of the option of `Framework.initialize()` if it is not `name`. */
  readonly setting?: string;
  /** Runs when the class is first used. Throws an error that names the class. */
  check(option: OptionReader, target: ModelClass): R;
  /**
   * The value of an option that follows from the fields of the class and stands in no `@rest`. Embedded classes, which
   * need no `@rest`, can have it too.
   */
  declared?(target: ModelClass): unknown;
  /** Runs at start-up for each class of a route that lacks the option, and throws if the class must have it. */
  startWithout?(place: { readonly target: ModelClass; readonly route: Route }): void;
  /** Throws at start-up if a route cannot serve the option. */
  start?(rule: R, place: { readonly target: ModelClass; readonly route: Route }): void;
  /** Actions on one entity that the option adds to a `@rest` of the class. */
  methods?(rule: R, rest: RestRecord): readonly ClassMethod[];
  /**
   * Operations on a property that holds one entity of the class, in the place of the operations in its `@rest`. Throws
   * if the property cannot have one of them.
   */
  partMethods?(rule: R, part: PartDescription): readonly PartMethod[] | undefined;
  /** Runs before the method `configure()` of the class. */
  schema?(rule: R, schema: Schema): void;
  /** Runs after `configure()` of the class. */
  indexes?(rule: R, schema: Schema): void;
  /**
   * The condition that an entity must match to be read or written. It applies in addition to the option `scope`, in
   * routes, in references of bodies, in populated references and in `queryFor()`.
   */
  condition?(rule: R, req: FrameworkRequest, reach: Reach): MaybePromise<QueryObject>;
  /**
   * The field whose value is a condition of each statement of the class. Hints ask for indexes that begin with this
   * field.
   */
  selecting?(rule: R): string;
  /** The query parameter that the option adds to routes. */
  readonly parameter?: {
    readonly name: string;
    readonly facts: ParameterFacts;
    isOf(rule: R, method: Method): boolean;
  };
  /** Fields and parameters that descriptions of routes do not show to the sender of `req`. */
  withheld?(rule: R, req: FrameworkRequest): Withheld;
  /** Runs after the `preFetch` hooks. May throw, and may add conditions to the filter of the request. */
  admit?(rule: R, call: Call): void;
  /**
   * Runs after the `preFetch` hooks for each class of the route without the option, because references may lead from
   * this class to a class with the option.
   */
  admitWithout?(call: Call): void;
  /**
   * The values to store in an entity instead of removing it. `undefined` means that the request removes the entity for
   * good.
   */
  removal?(
    rule: R,
    write: RemovalRequest,
  ): Readonly<Record<string, unknown>> | undefined;
  removalFields?(rule: R): RemovalFields;
  /**
   * The values to store with each write of an entity, cast to the types of their fields. The value `undefined` removes
   * a field.
   */
  stamps?(rule: R, write: StampedWrite): Readonly<Record<string, unknown>>;
  /** The fields that `stamps` may set, so that other writes keep their stored values. */
  stamped?(rule: R): readonly string[];
  /**
   * Sends further statements in the transaction of each write, so that both are stored or neither. A class with this
   * method needs a database with transactions.
   */
  together?(rule: R, write: TogetherWrite): Promise<void>;
  /** Begins index builds for {@linkcode ClassFeature.together}, before a batch begins its transaction. */
  build?(rule: R, model: Model<unknown>): void;
  /** Other classes that {@linkcode ClassFeature.together} may read or write. */
  writes?(rule: R, target: ModelClass): readonly ModelClass[];
  /** The function by which housekeeping removes expired data of the class. */
  tidy?(rule: R): Tidy | undefined;
  /**
   * Runs after a request has written entities of the class or parts of them, and the answer waits for it. It must not
   * throw, because the write cannot be undone.
   */
  after?(rule: R, write: DoneWrite): Promise<void>;
  /**
   * Whether the writes of an operation have statements of {@linkcode ClassFeature.together}, and so need a transaction.
   * By default, all do.
   */
  joins?(rule: R, write: { readonly target: ModelClass; readonly operation: string }): boolean;
  /**
   * The fields whose updates need {@linkcode ClassFeature.together}. Updates that bring an entity back after a removal
   * always need it. By default, all updates do.
   */
  joinedFields?(rule: R, target: ModelClass): readonly string[];
}

export interface RemovalFields {
  readonly time: string;
  readonly actor: string;
  /** Separates the removals of one request from all others. */
  readonly removalId: string;
  readonly all: readonly string[];
}

/**
 * Removes a portion of the expired entities and returns their number. The framework calls the function again until it
 * returns 0.
 */
export type Tidy = (expired: TidyPortion) => Promise<number>;

export interface TidyPortion {
  readonly model: Model<unknown>;
  /** The time at which an entity counts as expired. */
  readonly at: Date;
  readonly limit: number;
  /**
   * Removes up to `limit` matching entities for good, with the statements of class options in the same transaction.
   * Returns their number.
   */
  remove(filter: Filter): Promise<number>;
}

export interface DoneWrite {
  readonly route: Route;
  /** The lowest level of the route whose entities are documents of a collection. */
  readonly context: LevelContext;
  /** Given only by the removal of many entities. */
  readonly affected?: number | undefined;
}

export async function runAfter(rules: readonly ClassRule[], write: DoneWrite): Promise<void> {
  for (const { feature, rule } of rules) await feature.after?.(rule, write);
}

export interface StampedWrite {
  readonly req: FrameworkRequest;
  readonly actor: Actor | undefined;
  readonly isNew: boolean;
  readonly schema: Schema;
}

export interface TogetherWrite extends WrittenEntities {
  /** Missing if the framework has removed expired entities. */
  readonly req?: FrameworkRequest | undefined;
  /** Missing if the option `actor` of `Framework.initialize()` returned no sender. */
  readonly actor: Actor | undefined;
  readonly target: ModelClass;
  /** A write of a part also names the property, as in `comments.create`. */
  readonly operation: string;
  readonly session: ClientSession;
  /** Missing if the framework has removed expired entities. */
  readonly request?: JoinedRequest | undefined;
}

export interface JoinedRequest {
  readonly req: FrameworkRequest;
  readonly actor: Actor | undefined;
  readonly route: Route;
  /** All removals of a transaction store the same time. */
  readonly at: Date;
  /** Stored by all removals of this request and its cascades, because requests can have equal times. */
  readonly removalId: mongo.ObjectId;
  /**
   * The write for which the client has sent the request, if the present write follows from it. The limit `maxCascade`
   * counts all removals with the same origin.
   */
  readonly origin: TogetherWrite | undefined;
  /**
   * Writes entities of another class in the transaction of `from`. The history records these writes under the operation
   * in `place`.
   */
  open(from: TogetherWrite, place: JoinedPlace): Promise<JoinedClass>;
}

export type RemovalRequest = Pick<JoinedRequest, "req" | "actor" | "at" | "removalId">;

export interface JoinedPlace extends Pick<TogetherWrite, "target" | "operation"> {
  /**
   * With `"route"`, the writes reach entities in the trash if the request does.
   *
   * @default {"reference"}
   */
  readonly reach?: Reach | undefined;
}

type Scope = NonNullable<RestRecord["scope"]>;

/**
 * With `"route"`, the request can ask for entities in the trash. With `"reference"`, an entity or the application
 * refers to them, and entities in the trash stay hidden. `"everyone"` also reaches entities of other tenants, to find
 * out whether any entity refers to another one.
 */
export type Reach = "route" | "reference" | "everyone";

export interface ClassRule {
  readonly feature: ClassFeature;
  readonly rule: unknown;
}

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
    // The schema of the class is still being built when the place of its option is described. An earlier look-up would
    // build the schema again without an end.
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

export function scopesOfRules(rules: readonly ClassRule[], reach: Reach): Scope[] {
  return rules.flatMap(({ feature, rule }) =>
    feature.condition === undefined
      ? []
      : [((req: FrameworkRequest) => feature.condition?.(rule, req, reach) ?? {}) as Scope]
  );
}

/** `undefined` means that the request removes entities for good. */
export function removalByRules(
  rules: readonly ClassRule[],
  write: RemovalRequest,
): (() => Stamps) | undefined {
  const kept = rules.map(({ feature, rule }) => feature.removal?.(rule, write))
    .filter((values) => values !== undefined);
  return kept.length === 0 ? undefined : () => Object.assign({}, ...kept);
}

/** The class is on the route or embedded in a class of it. */
export function startRules(
  rules: readonly ClassRule[],
  place: { readonly target: ModelClass; readonly route: Route },
): void {
  for (const { feature, rule } of rules) feature.start?.(rule, place);
}

export function stampsOfRules(rules: readonly ClassRule[], write: StampedWrite): Stamps {
  return Object.assign(
    {},
    ...rules.map(({ feature, rule }) => feature.stamps?.(rule, write) ?? {}),
  );
}

export function stampedByRules(rules: readonly ClassRule[]): readonly string[] {
  return rules.flatMap(({ feature, rule }) => feature.stamped?.(rule) ?? []);
}

export function removalFieldsOf(rules: readonly ClassRule[]): RemovalFields | undefined {
  return rules.map(({ feature, rule }) => feature.removalFields?.(rule)).find((each) => each);
}

export function joiningRules(
  rules: readonly ClassRule[],
  write: Pick<TogetherWrite, "operation" | "target">,
): ClassRule[] {
  return rules.filter(({ feature, rule }) =>
    feature.together !== undefined && feature.joins?.(rule, write) !== false
  );
}

/** `undefined` means that the updates of all fields need further statements of class options. */
function joinedFieldsOf(
  rules: readonly ClassRule[],
  write: Pick<TogetherWrite, "operation" | "target">,
): ReadonlySet<string> | undefined {
  const joined = joiningRules(rules, write).map(({ feature, rule }) =>
    feature.joinedFields?.(rule, write.target)
  );
  if (joined.includes(undefined)) return undefined;
  return new Set([...joined.flatMap((each) => each ?? []), ...removalFieldsOf(rules)?.all ?? []]);
}

/** `undefined` if no class option adds statements. */
export function transactionRule(
  rules: readonly ClassRule[],
  { request, ...place }: JoinedPlace & { readonly request?: JoinedRequest },
): TransactionRule | undefined {
  const joining = joiningRules(rules, place);
  if (joining.length === 0) return undefined;
  return {
    fields: joinedFieldsOf(rules, place),
    async send(written, session) {
      const { req, actor } = request ?? {};
      const write = { ...written, ...place, req, actor, session, request };
      for (const { feature, rule } of joining) await feature.together?.(rule, write);
    },
  };
}

export function tidiesOfRules(rules: readonly ClassRule[]): readonly Tidy[] {
  return rules.flatMap(({ feature, rule }) => feature.tidy?.(rule) ?? []);
}
