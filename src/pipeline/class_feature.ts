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
import type { AddedStatements, WrittenEntities } from "../store/writes/transact.ts";
import type { Method } from "../declare/operations/methods.ts";
import type { ClassMethod, PartMethod } from "./class_methods.ts";
import type { ParameterFacts } from "./description.ts";
import type { GivenSettings } from "./feature.ts";
import type { ClassWriter } from "./class_writer.ts";
import type { Call, LevelContext } from "./request/request_context.ts";
import type { Route } from "./request/route.ts";
import { cannotMount, type OptionPlace, OptionReader } from "./option_reader.ts";

/** Class options apply to all reads and writes, so that no route shows an entity that another hides. */
export interface ClassFeature<R = unknown> {
  readonly name: string;
  settings?(given: GivenSettings): unknown;
  /** Runs when the class is first used. */
  check(option: OptionReader, target: ModelClass): R;
  /** Collects the value for `check` from fields of the class and of embedded classes, if `@rest` has no such option. */
  declared?(target: ModelClass): unknown;
  start?(config: R, place: ClassInRoute): void;
  methods?(config: R, rest: RestRecord): readonly ClassMethod[];
  /** Replaces the usual operations of a property, as for files. */
  partMethods?(config: R, part: PartDescription): readonly PartMethod[] | undefined;
  /** Runs before `configure()` of the class. */
  schema?(config: R, schema: Schema): void;
  /** Runs after `configure()` of the class. */
  indexes?(config: R, schema: Schema): void;
  /** A condition in addition to `scope`, also for references and `queryFor()`. */
  condition?(config: R, req: FrameworkRequest, reach: Reach): MaybePromise<QueryObject>;
  readonly parameter?: {
    readonly name: string;
    readonly facts: ParameterFacts;
    isOf(config: R, method: Method): boolean;
    /** Whether this client may use the parameter. Otherwise, descriptions omit it and the fields that removals set. */
    isFor(config: R, req: FrameworkRequest): boolean;
  };
  /** Runs after the `preFetch` hooks, and may add conditions. */
  admit?(config: R, call: Call): void;
  /**
   * Runs for classes that lack the option: `tenant` refuses them at the start, or else a forgotten option would show
   * all tenants.
   */
  readonly without?: {
    start(place: ClassInRoute): void;
    admit(call: Call): void;
  };
  /** The sender's tenant, which plugins also get on routes of classes without tenants. */
  tenantOf?(request: Pick<Call, "req" | "origin" | "route">): Actor | undefined;
  fields?(config: R): ClassFields;
  /** The cast values to store. `undefined` removes a field. */
  stamps?(config: R, write: StampedWrite): Readonly<Record<string, unknown>>;
  readonly statements?: ClassStatements<R>;
  tidy?(config: R): Tidy | undefined;
  /** Runs after a write, before the answer. It must not throw, because the write cannot be undone. */
  after?(config: R, write: DoneWrite): Promise<void>;
}

export interface ClassInRoute {
  readonly target: ModelClass;
  readonly route: Route;
}

export interface ClassStatements<R> {
  /**
   * Whether a write sends the statements, by default `true`. With a list, an update sends them only if it sets one of
   * these fields or restores an entity from the trash. Any other update needs no transaction.
   */
  areFor?(
    config: R,
    write: Pick<TransactionWrite, "operation" | "target">,
  ): boolean | readonly string[];
  send(config: R, write: TransactionWrite): Promise<void>;
  /** Begins index builds. Runs before the transaction of a batch, in which MongoDB builds no indexes. */
  build?(config: R, model: Model<unknown>): void;
  /** Classes that `send` may read or write, whose models must exist before the transaction. */
  classes?(config: R, target: ModelClass): readonly ModelClass[];
}

export interface ClassFields {
  /** The field by which `condition` selects. Hints in the log propose indexes that begin with it. */
  readonly selecting?: string;
  /** Fields that only `stamps` may set: before a write, other changes are undone. */
  readonly stamped?: readonly string[];
  readonly removal?: RemovalFields;
}

/** A removal sets these fields of the entity, which stays stored. */
export interface RemovalFields {
  readonly time: string;
  readonly actor: string;
  /**
   * By this field, a restore finds other entities that the same request has removed. Several requests may share a time.
   */
  readonly removalId: string;
  readonly all: readonly string[];
  /** Whether a request selects removed entities. Its removals are then for good. */
  isOfRemoved(req: FrameworkRequest): boolean;
}

/** Returns the number of removed entities, and is called again until it returns 0. */
export type Tidy = (expired: TidyPortion) => Promise<number>;

export interface TidyPortion {
  readonly model: Model<unknown>;
  readonly at: Date;
  readonly limit: number;
  /** Removes at most `limit` entities for good. */
  remove(filter: Filter): Promise<number>;
}

export interface DoneWrite {
  readonly route: Route;
  /** The lowest level of the route whose entities have their own collection. */
  readonly context: LevelContext;
  readonly affected?: number | undefined;
}

export async function runAfter(
  features: readonly ConfiguredFeature[],
  write: DoneWrite,
): Promise<void> {
  for (const { feature, config } of features) await feature.after?.(config, write);
}

export interface StampedWrite {
  readonly req: FrameworkRequest;
  readonly actor: Actor | undefined;
  readonly isNew: boolean;
  readonly schema: Schema;
}

export interface TransactionWrite extends WrittenEntities {
  /** Missing for removals of expired entities. */
  readonly req?: FrameworkRequest | undefined;
  readonly actor: Actor | undefined;
  readonly target: ModelClass;
  readonly operation: string;
  readonly session: ClientSession;
  readonly request?: TransactionRequest | undefined;
  /**
   * Writes another class in the transaction. Set only without a request, because `request.classWriter` does this
   * otherwise.
   */
  readonly writerOf?: WriterWithoutRequest | undefined;
}

export type WriterWithoutRequest = (
  from: TransactionWrite,
  options: Pick<ClassWriterOptions, "target" | "operation">,
) => ClassWriter;

export interface TransactionRequest {
  readonly req: FrameworkRequest;
  readonly actor: Actor | undefined;
  readonly client: object;
  readonly route: Route;
  /** All removals of a transaction store the same time. */
  readonly at: Date;
  readonly removalId: mongo.ObjectId;
  /** The client's write, for which `limits.cascade` counts all removals. */
  readonly origin: TransactionWrite | undefined;
  /** Writes another class in the transaction of `from`. The history records the operation in `options`. */
  classWriter(from: TransactionWrite, options: ClassWriterOptions): Promise<ClassWriter>;
}

export interface ClassWriterOptions extends Pick<TransactionWrite, "target" | "operation"> {
  /** @default {"reference"} */
  readonly reach?: Reach | undefined;
}

type Scope = NonNullable<RestRecord["scope"]>;

/**
 * The entities that a condition of a class option selects. With `"route"`, a request may ask for entities in the trash,
 * which `"reference"` never selects. `"everyone"` also selects other tenants, whose references can prevent a removal
 * too.
 */
export type Reach = "route" | "reference" | "everyone";

export interface ConfiguredFeature {
  readonly feature: ClassFeature;
  readonly config: unknown;
}

export function configureFeatures(
  all: readonly ClassFeature[],
  target: ModelClass,
): readonly ConfiguredFeature[] {
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
    return [{ feature, config: feature.check(option, target) }];
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
    // The schema is still being built, so an earlier look-up would recurse endlessly.
    get schema() {
      return buildSchema(target).schema;
    },
    get shape() {
      return shapeForAll(buildSchema(target).schema);
    },
  };
}

export function addToSchema(features: readonly ConfiguredFeature[], schema: Schema): void {
  for (const { feature, config } of features) feature.schema?.(config, schema);
}

export function changeIndexesOf(features: readonly ConfiguredFeature[], schema: Schema): void {
  for (const { feature, config } of features) feature.indexes?.(config, schema);
}

export function featureScopes(features: readonly ConfiguredFeature[], reach: Reach): Scope[] {
  return features.flatMap(({ feature, config }) =>
    feature.condition === undefined
      ? []
      : [((req: FrameworkRequest) => feature.condition?.(config, req, reach) ?? {}) as Scope]
  );
}

export function removalOf(
  features: readonly ConfiguredFeature[],
  { req, at, actor, removalId }: Pick<TransactionRequest, "req" | "actor" | "at" | "removalId">,
): (() => Stamps) | undefined {
  const fields = removalFieldsOf(features);
  if (fields === undefined || fields.isOfRemoved(req)) return undefined;
  return () => ({ [fields.time]: at, [fields.actor]: actor, [fields.removalId]: removalId });
}

export function startFeatures(
  features: readonly ConfiguredFeature[],
  place: ClassInRoute,
): void {
  for (const { feature, config } of features) feature.start?.(config, place);
}

export function featureStamps(features: readonly ConfiguredFeature[], write: StampedWrite): Stamps {
  return Object.assign(
    {},
    ...features.map(({ feature, config }) => feature.stamps?.(config, write) ?? {}),
  );
}

export function featureFields(features: readonly ConfiguredFeature[]): readonly ClassFields[] {
  return features.flatMap(({ feature, config }) => feature.fields?.(config) ?? []);
}

export function removalFieldsOf(features: readonly ConfiguredFeature[]): RemovalFields | undefined {
  return featureFields(features).find(({ removal }) => removal)?.removal;
}

export function featuresWithStatements(
  features: readonly ConfiguredFeature[],
  write: Pick<TransactionWrite, "operation" | "target">,
): ConfiguredFeature[] {
  return features.filter((each) => hasStatements(each, write) !== false);
}

function hasStatements(
  { feature: { statements }, config }: ConfiguredFeature,
  write: Pick<TransactionWrite, "operation" | "target">,
): boolean | readonly string[] {
  return statements !== undefined && (statements.areFor?.(config, write) ?? true);
}

function statementFieldsOf(
  features: readonly ConfiguredFeature[],
  write: Pick<TransactionWrite, "operation" | "target">,
): ReadonlySet<string> | undefined {
  const fields = features.map((each) => hasStatements(each, write));
  if (fields.includes(true)) return undefined;
  return new Set([
    ...fields.flatMap((each) => typeof each === "boolean" ? [] : each),
    ...removalFieldsOf(features)?.all ?? [],
  ]);
}

export function buildAddedStatements(
  features: readonly ConfiguredFeature[],
  { request, writerOf, ...place }:
    & ClassWriterOptions
    & Pick<TransactionWrite, "request" | "writerOf">,
): AddedStatements | undefined {
  const adding = featuresWithStatements(features, place);
  if (adding.length === 0) return undefined;
  return {
    fields: statementFieldsOf(features, place),
    async send(written, session) {
      const { req, actor } = request ?? {};
      const write = { ...written, ...place, req, actor, session, request, writerOf };
      for (const { feature, config } of adding) await feature.statements?.send(config, write);
    },
  };
}

export function tidiesOf(features: readonly ConfiguredFeature[]): readonly Tidy[] {
  return features.flatMap(({ feature, config }) => feature.tidy?.(config) ?? []);
}
