import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import type { HookName } from "../declare/hooks/hooks.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { RestRecord } from "../declare/model/records.ts";
import type { Method } from "../declare/operations/methods.ts";
import { takesOption } from "../declare/operations/write_options.ts";
import { badFormat, badParameter } from "../errors/refusals.ts";
import { addToSchemas } from "../schema/build_schema.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { memoize } from "../schema/memoize.ts";
import type { WriteDuties } from "../sources/write_duties.ts";
import {
  addRulesToSchema,
  type ClassFeature,
  dutiesOfRules,
  readClassRules,
  scopesOfRules,
} from "./class_feature.ts";
import type { BodyLimits } from "../write/body/read_body.ts";
import { type Description, joinDescriptions, type JoinedDescription } from "./description.ts";
import type { ActiveFeature, AnyFeature, Exclusive } from "./feature.ts";
import { GivenRequest, notAllowed, type ParameterForms, readParameters } from "./given_request.ts";
import { type GivenOptions, type OptionPlace, OptionReader } from "./option_reader.ts";
import type { Route } from "./request/route.ts";

/** The features that a router knows. The order of the list is the order in which their phases run. */
export class FeatureList {
  readonly all: readonly AnyFeature[];
  readonly parameters: ParameterForms;
  readonly #options: ReadonlySet<string>;
  readonly #ofClasses: readonly ClassFeature[];

  constructor(all: readonly AnyFeature[], ofClasses: readonly ClassFeature[] = []) {
    this.all = all;
    this.#ofClasses = ofClasses;
    // Models may be compiled before a router is mounted, so the list adds to all schemas from the beginning.
    if (ofClasses.length > 0) {
      addToSchemas((target, schema) => addRulesToSchema(this.#rulesOf(target), schema));
    }
    this.parameters = new Map(all.flatMap(({ parameters }) => Object.entries(parameters ?? {})));
    this.#options = new Set(all.flatMap(optionsOf));
  }

  /** Whether a name in the declaration of an operation is an option of a feature, and not a hook. */
  hasOption(name: string): boolean {
    return this.#options.has(name);
  }

  /** The names of the options of `@rest` on a class that belong to features. */
  get classOptions(): Readonly<Record<string, true>> {
    return Object.fromEntries(this.#ofClasses.map(({ name }) => [name, true]));
  }

  readonly #rulesOf = memoize((target: ModelClass) => readClassRules(this.#ofClasses, target));

  /** Returns the conditions that bind every read and write of a class, in addition to the scopes of its `@rest`. */
  conditionsOf(target: ModelClass): NonNullable<RestRecord["scope"]>[] {
    return scopesOfRules(this.#rulesOf(target));
  }

  /** Returns the work that the features of a class add to each write of a request. */
  dutiesOf(target: ModelClass, req: FrameworkRequest): WriteDuties | undefined {
    return dutiesOfRules(this.#rulesOf(target), req);
  }

  /** Returns the settings of each feature for a router, from the options of `Framework.initialize()`. */
  settings(given: object): ReadonlyMap<string, unknown> {
    const options = given as Readonly<Record<string, unknown>>;
    return new Map(
      this.all.flatMap((feature) =>
        feature.settings === undefined
          ? []
          : [[feature.name, feature.settings(options[optionOf(feature)])]]
      ),
    );
  }
}

function optionOf({ name, option = name }: AnyFeature): string {
  return option;
}

/** Returns the names of all options that belong to a feature. */
function optionsOf(feature: AnyFeature): string[] {
  return [optionOf(feature), ...feature.also ?? []];
}

interface DeclaredFeature {
  readonly feature: AnyFeature;
  readonly declared: unknown;
}

/** The options of one operation, which are read and checked at start-up. */
export class OperationOptions {
  readonly #features: FeatureList;
  readonly #method: Method;
  readonly #place: OptionPlace;
  readonly #declared: readonly DeclaredFeature[];

  constructor(
    features: FeatureList,
    { method, place }: { readonly method: Method; readonly place: OptionPlace },
  ) {
    this.#features = features;
    this.#method = method;
    this.#place = place;
    this.#declared = this.#readAll();
  }

  #readAll(): DeclaredFeature[] {
    const { operation, hooks } = this.#method;
    const given = hooks as GivenOptions;
    const own = this.#features.all.filter((each) => takes(each, operation));
    const misplaced = this.#features.all.flatMap(optionsOf).find((name) =>
      given[name] !== undefined && !own.some((each) => optionsOf(each).includes(name)) &&
      !takesOption(operation, name)
    );
    if (misplaced !== undefined) throw this.#place.fail(`cannot have "${misplaced}"`);
    for (const each of own) checkFurtherOptions(each, { given, place: this.#place });
    return own.flatMap((feature) => {
      const name = optionOf(feature);
      const value = given[name];
      if (value === undefined) return [];
      checkRequirements(feature, { given, place: this.#place });
      const reader = new OptionReader(this.#place, { name, value, others: given });
      return [{ feature, declared: feature.check(reader, this.#place) }];
    });
  }

  /** Returns options that also have the given option. Throws if the operation cannot have it. */
  with(name: string, value: unknown): OperationOptions {
    const hooks = { ...this.#method.hooks, [name]: value };
    const method = { ...this.#method, hooks };
    return new OperationOptions(this.#features, { method, place: this.#place });
  }

  /** Returns the rules for the readers who see the fields of a shape. */
  readonly under: (shape: Shape) => ReaderOptions = memoize((shape: Shape) => {
    const rules = this.#declared.flatMap(({ feature, declared }) => {
      const rule = feature.narrow(declared, shape);
      return rule === undefined ? [] : [{ feature, rule, description: feature.describe(rule) }];
    });
    return new ReaderOptions(this, { rules, owned: this.#features.parameters });
  });

  get isEmpty(): boolean {
    return this.#declared.length === 0;
  }

  has(name: string): boolean {
    return this.#declared.some(({ feature }) => optionOf(feature) === name);
  }

  /** Whether a feature reads entities that the filter of the client may exclude. */
  get readsBeyondFilter(): boolean {
    return this.#declared.some(({ feature }) => feature.readsBeyondFilter);
  }

  get varies(): readonly string[] {
    return this.#declared.flatMap(({ feature: { varies = [] } }) => varies);
  }

  /** Reads a request for the features that need it unchanged, before hooks run. */
  capture(req: FrameworkRequest): ReadonlyMap<AnyFeature, unknown> | undefined {
    const capturing = this.#declared.filter(({ feature }) => feature.capture !== undefined);
    if (capturing.length === 0) return undefined;
    return new Map(capturing.map(({ feature }) => [feature, feature.capture?.(req)]));
  }
}

function takes({ operations }: AnyFeature, operation: string): boolean {
  return (operations as readonly string[]).includes(operation);
}

interface DeclaredOptions {
  readonly given: GivenOptions;
  readonly place: OptionPlace;
}

/** Throws if a declaration has a further option of a feature without the option of the feature. */
function checkFurtherOptions(
  feature: AnyFeature,
  { given, place }: DeclaredOptions,
): void {
  const option = optionOf(feature);
  const further = feature.also?.find((name) => given[name] !== undefined);
  if (further === undefined || given[option] !== undefined) return;
  throw place.fail(`needs "${option}" with "${further}"`);
}

/** Throws if the operation does not meet a requirement of a feature that its declaration has. */
function checkRequirements(feature: AnyFeature, { given, place }: DeclaredOptions): void {
  const option = optionOf(feature);
  const { link, shape, fail } = place;
  for (const requirement of feature.requirements ?? []) {
    if ("needs" in requirement) {
      const isMet = requirement.needs === "_id"
        ? shape.fields.has("_id")
        : link === undefined || !link.embedded;
      if (!isMet) throw fail(`cannot have "${option}": ${requirement.reason}`);
      continue;
    }
    const hook = requirement.withoutHooks.find((name: HookName) => given[name] !== undefined);
    if (hook === undefined) continue;
    const problem = requirement.reason(hook);
    // A `fetch` hook replaces the query of the framework, to which all options of lists belong.
    throw fail(
      hook === "fetch"
        ? `has its own "fetch", which does not know of "${option}"`
        : `cannot have "${option}": ${problem}`,
    );
  }
}

interface ReaderRule {
  readonly feature: AnyFeature;
  readonly rule: unknown;
  readonly description: Description;
}

interface ParsedRequest {
  readonly req: FrameworkRequest;
  /** The parameters that hooks of the route read. */
  readonly ofHooks: readonly string[];
  readonly captured: ReadonlyMap<AnyFeature, unknown> | undefined;
  readonly bodyLimits: Required<BodyLimits>;
}

/** The options of an operation for one kind of reader. Only these options parse requests. */
export class ReaderOptions {
  readonly #rules: readonly ReaderRule[];
  readonly #owned: ParameterForms;
  readonly #offered: readonly string[];
  readonly description: JoinedDescription;

  constructor(
    readonly declared: OperationOptions,
    { rules, owned }: { readonly rules: readonly ReaderRule[]; readonly owned: ParameterForms },
  ) {
    this.#rules = rules;
    this.#owned = owned;
    this.description = joinDescriptions(rules.map(({ description }) => description));
    this.#offered = Object.keys(this.description.answer.content);
  }

  /** Runs the phase `start` of each feature, when a router is mounted. */
  start(route: Route): void {
    for (const { feature, rule } of this.#rules) feature.start?.(rule, route);
  }

  /**
   * Reads the parameters of a request. If the request asks for an exclusive feature, only the features that this one
   * keeps are parsed too. The parameters and the headers of all others are refused.
   */
  parse({ req, ofHooks, captured, bodyLimits }: ParsedRequest): readonly ActiveFeature[] {
    if (this.declared.isEmpty) return [];
    const given = readParameters(req.url, {
      owned: this.#owned,
      isDeclared: (name) => Object.hasOwn(this.description.parameters, name),
      ofHooks,
    });
    const requestOf = ({ feature, description }: ReaderRule) => {
      const own = { given, description, offered: this.#offered, bodyLimits };
      return new GivenRequest(req, { ...own, captured: captured?.get(feature) });
    };
    const parse = (each: ReaderRule): ActiveFeature[] => {
      const { feature, rule } = each;
      const params = feature.parse(rule, requestOf(each));
      return params === undefined ? [] : [{ feature, params }];
    };
    const early = new Map<ReaderRule, ActiveFeature[]>();
    const [lead, second] = this.#rules.filter((each) => {
      const { feature, rule } = each;
      if (feature.exclusive === undefined) return false;
      if (feature.asks !== undefined) return feature.asks(rule, requestOf(each));
      const parsed = parse(each);
      early.set(each, parsed);
      return parsed.length > 0;
    });
    const exclusive = lead?.feature.exclusive;
    if (exclusive !== undefined && second?.feature.exclusive !== undefined) {
      throw badFormat(exclusive.clash(second.feature.exclusive.noun));
    }
    const applied = this.#rules.filter(({ feature }) =>
      exclusive === undefined
        ? feature.exclusive === undefined
        : feature === lead?.feature || exclusive.keeps.includes(feature.name)
    );
    if (exclusive !== undefined) refuseHeaders(req, { exclusive, rules: this.#rules, applied });
    for (const name of given.keys()) {
      if (ofHooks.includes(name) || applied.some((rule) => describes(rule, name))) continue;
      throw exclusive === undefined ? notAllowed(name) : badParameter(name, exclusive.allowed);
    }
    const others = applied.filter((each) => each !== lead).flatMap(parse);
    return lead === undefined ? others : [...early.get(lead) ?? parse(lead), ...others];
  }
}

interface AppliedRules {
  readonly exclusive: Exclusive;
  readonly rules: readonly ReaderRule[];
  readonly applied: readonly ReaderRule[];
}

/**
 * Throws if a request for an exclusive feature has a header that only excluded features read, because the client relies
 * on the header. A header of another exclusive feature is ignored, as in every request that does not ask for that
 * feature.
 */
function refuseHeaders(
  { headers }: FrameworkRequest,
  { exclusive, rules, applied }: AppliedRules,
): void {
  const namesIn = (some: readonly ReaderRule[]) =>
    some.flatMap(({ description }) => Object.keys(description.headers ?? {}));
  const excluded = rules.filter((each) => !applied.includes(each) && !each.feature.exclusive);
  const known = namesIn(applied);
  const name = namesIn(excluded).find((each) =>
    headers[each.toLowerCase()] !== undefined && !known.includes(each)
  );
  if (name === undefined) return;
  throw badFormat(`The header "${name}" is not for ${exclusive.noun.toLowerCase()}`);
}

function describes({ description: { parameters = {} } }: ReaderRule, name: string): boolean {
  return Object.hasOwn(parameters, name);
}
