import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import type { Method } from "../declare/operations/methods.ts";
import { takesOption } from "../declare/operations/write_options.ts";
import { forAll } from "../errors/for_all.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { memoize } from "../schema/memoize.ts";
import { findsByMiddleware } from "../schema/mongoose/schemas/schema_members.ts";
import type { AnyFeature, Requirement } from "./feature.ts";
import { type FeatureList, optionsOf } from "./feature_list.ts";
import { type GivenOptions, type OptionPlace, OptionReader } from "./option_reader.ts";
import { ReaderOptions } from "./reader_options.ts";

interface DeclaredFeature {
  readonly feature: AnyFeature;
  readonly declared: unknown;
}

export class DeclaredOptions {
  readonly #features: FeatureList;
  readonly #method: Method;
  readonly #place: OptionPlace;
  readonly #declared: readonly DeclaredFeature[];

  constructor(
    features: FeatureList,
    { method, place, isLeftOut = () => false }: {
      readonly method: Method;
      readonly place: OptionPlace;
      readonly isLeftOut?: (feature: AnyFeature) => boolean;
    },
  ) {
    this.#features = features;
    this.#method = method;
    this.#place = place;
    this.#declared = this.#readAll().filter(({ feature }) => !isLeftOut(feature));
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
    const checked = forAll(own, (feature) => {
      const [name] = optionsOf(feature);
      const value = given[name];
      if (value === undefined || value === false && feature.takesFalse) return [];
      checkRequirements(feature, { given, place: this.#place });
      const reader = new OptionReader(this.#place, { name, value, others: given });
      return [{ feature, declared: feature.check(reader, this.#place) }];
    });
    return checked.flat();
  }

  with(name: string, value: unknown): DeclaredOptions {
    const hooks = { ...this.#method.hooks, [name]: value };
    const method = { ...this.#method, hooks };
    return new DeclaredOptions(this.#features, { method, place: this.#place });
  }

  /** `QUERY` requests cannot use features that send the answer by themselves. */
  withoutTakeOver(): DeclaredOptions {
    const isLeftOut = ({ takeOver }: AnyFeature) => takeOver !== undefined;
    return new DeclaredOptions(this.#features, {
      method: this.#method,
      place: this.#place,
      isLeftOut,
    });
  }

  readonly under: (shape: Shape) => ReaderOptions = memoize((shape: Shape) => {
    const features = this.#declared.flatMap(({ feature, declared }) => {
      const config = feature.narrow(declared, shape);
      return config === undefined
        ? []
        : [{ feature, config, description: feature.describe(config) }];
    });
    return new ReaderOptions(this, { features, owned: this.#features.parameters });
  });

  get unsaid(): string | undefined {
    const { operation, hooks } = this.#method;
    const unsaid = this.#features.all.filter((each) => each.takesFalse && takes(each, operation))
      .map((each) => optionsOf(each)[0]);
    return unsaid.find((option) => (hooks as GivenOptions)[option] === undefined);
  }

  get isEmpty(): boolean {
    return this.#declared.length === 0;
  }

  has(name: string): boolean {
    return this.#declared.some(({ feature }) => optionsOf(feature)[0] === name);
  }

  get words(): readonly string[] {
    return this.#declared.flatMap(({ feature: { word } }) => word ?? []);
  }

  capture(req: FrameworkRequest): ReadonlyMap<AnyFeature, unknown> | undefined {
    const capturing = this.#declared.filter(({ feature }) => feature.capture !== undefined);
    if (capturing.length === 0) return undefined;
    return new Map(capturing.map(({ feature }) => [feature, feature.capture?.(req)]));
  }
}

function takes({ operations }: AnyFeature, operation: string): boolean {
  return (operations as readonly string[]).includes(operation);
}

interface OptionsToCheck {
  readonly given: GivenOptions;
  readonly place: OptionPlace;
}

function checkFurtherOptions(
  feature: AnyFeature,
  { given, place }: OptionsToCheck,
): void {
  const [option, ...others] = optionsOf(feature);
  const further = others.find((name) => given[name] !== undefined);
  if (further === undefined || given[option] !== undefined) return;
  throw place.fail(`needs "${option}" with "${further}"`);
}

function checkRequirements(feature: AnyFeature, { given, place }: OptionsToCheck): void {
  const [option] = optionsOf(feature);
  for (const requirement of feature.requirements ?? []) {
    const problem = problemOf(requirement, { option, given, place });
    if (problem !== undefined) throw place.fail(problem);
  }
}

function problemOf(
  requirement: Requirement,
  { option, given, place: { link, shape, schema } }: OptionsToCheck & { readonly option: string },
): string | undefined {
  const refusal = (reason: string) => `cannot have "${option}": ${reason}`;
  if ("withoutHooks" in requirement) {
    const hook = requirement.withoutHooks.find((name) => given[name] !== undefined);
    return hook && refusal(requirement.reason(hook));
  }
  switch (requirement.needs) {
    case "query":
      if (given.fetch === undefined) return undefined;
      return `has its own "fetch", which does not know of "${option}"`;
    case "aggregation":
      if (!findsByMiddleware(schema, "aggregate")) return undefined;
      return refusal("the model has middleware of find(), and none of aggregate()");
    case "_id":
      return shape.fields.has("_id") ? undefined : refusal(requirement.reason);
    case "collection":
      return link?.embedded ? refusal(requirement.reason) : undefined;
  }
}
