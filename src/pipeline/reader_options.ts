import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { badFormat, badParameter } from "../errors/refusals.ts";
import type { BodyLimits } from "../write/body/read_body.ts";
import { type Description, type MergedDescription, mergeDescriptions } from "./description.ts";
import type { ActiveFeature, AnyFeature, Exclusive } from "./feature.ts";
import { GivenRequest, notAllowed, type ParameterForms, readParameters } from "./given_request.ts";
import type { DeclaredOptions } from "./declared_options.ts";
import { MEDIA_TYPES } from "./request/media_types.ts";
import type { Route } from "./request/route.ts";

interface ReaderFeature {
  readonly feature: AnyFeature;
  readonly config: unknown;
  readonly description: Description;
}

interface ParsedRequest {
  readonly req: FrameworkRequest;
  readonly ofHooks: readonly string[];
  readonly captured: ReadonlyMap<AnyFeature, unknown> | undefined;
  readonly bodyLimits: Required<BodyLimits>;
}

/** `active` has the order in which features run, and begins with the exclusive feature. */
export interface ParsedFeatures {
  readonly active: readonly ActiveFeature[];
  readonly exclusive?: ActiveFeature;
}

const NOTHING: ParsedFeatures = { active: [] };

/** Only this class parses requests, so that no request uses a field hidden from its reader. */
export class ReaderOptions {
  readonly #features: readonly ReaderFeature[];
  readonly #exclusive: readonly ReaderFeature[];
  readonly #ordinary: readonly ReaderFeature[];
  readonly #owned: ParameterForms;
  readonly #offered: readonly string[];
  readonly description: MergedDescription;

  constructor(
    readonly declared: DeclaredOptions,
    { features, owned }: {
      readonly features: readonly ReaderFeature[];
      readonly owned: ParameterForms;
    },
  ) {
    this.#features = features;
    this.#owned = owned;
    this.description = mergeDescriptions(features.map(({ description }) => description));
    this.#offered = [MEDIA_TYPES.json, ...Object.keys(this.description.answer.content)];
    this.#exclusive = features.filter(({ feature }) => feature.exclusive !== undefined);
    this.#ordinary = features.filter(({ feature }) => feature.exclusive === undefined);
  }

  start(route: Route): void {
    for (const { feature, config } of this.#features) feature.start?.(config, route);
  }

  parse({ req, ofHooks, captured, bodyLimits }: ParsedRequest): ParsedFeatures {
    if (this.declared.isEmpty) return NOTHING;
    const given = readParameters(req.url, {
      owned: this.#owned,
      isDeclared: (name) => Object.hasOwn(this.description.parameters, name),
      ofHooks,
    });
    const parse = ({ feature, config, description }: ReaderFeature): ActiveFeature[] => {
      const own = { given, description, offered: this.#offered, bodyLimits };
      const request = new GivenRequest(req, { ...own, captured: captured?.get(feature) });
      const params = feature.parse(config, request);
      return params === undefined ? [] : [{ feature, params }];
    };
    const [chosen, second] = this.#exclusive.flatMap(parse);
    const exclusive = chosen?.feature.exclusive;
    if (exclusive !== undefined && second?.feature.exclusive !== undefined) {
      throw badFormat(exclusive.clash(second.feature.exclusive.noun));
    }
    const applied = exclusive === undefined
      ? this.#ordinary
      : this.#features.filter(({ feature }) =>
        feature === chosen?.feature || exclusive.keeps.includes(feature.name)
      );
    if (exclusive !== undefined) {
      refuseHeaders(req, { exclusive, features: this.#features, applied });
    }
    for (const name of given.keys()) {
      if (ofHooks.includes(name) || applied.some((config) => describes(config, name))) continue;
      throw exclusive === undefined ? notAllowed(name) : badParameter(name, exclusive.allowed);
    }
    const others = applied.filter(({ feature }) => feature !== chosen?.feature).flatMap(parse);
    return chosen === undefined
      ? { active: others }
      : { exclusive: chosen, active: [chosen, ...others] };
  }
}

interface AppliedFeatures {
  readonly exclusive: Exclusive;
  readonly features: readonly ReaderFeature[];
  readonly applied: readonly ReaderFeature[];
}

/**
 * Clients rely on a header, so it is refused if the exclusive feature leaves it without effect. A header of another
 * exclusive feature is ignored.
 */
function refuseHeaders(
  { headers }: FrameworkRequest,
  { exclusive, features, applied }: AppliedFeatures,
): void {
  const namesIn = (some: readonly ReaderFeature[]) =>
    some.flatMap(({ description }) => Object.keys(description.headers ?? {}));
  const excluded = features.filter((each) => !applied.includes(each) && !each.feature.exclusive);
  const known = namesIn(applied);
  const name = namesIn(excluded).find((each) =>
    headers[each.toLowerCase()] !== undefined && !known.includes(each)
  );
  if (name === undefined) return;
  throw badFormat(`The header "${name}" is not for ${exclusive.noun.toLowerCase()}`);
}

function describes({ description: { parameters = {} } }: ReaderFeature, name: string): boolean {
  return Object.hasOwn(parameters, name);
}
