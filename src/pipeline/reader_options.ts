import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { badFormat, badParameter } from "../errors/refusals.ts";
import type { BodyLimits } from "../write/body/read_body.ts";
import { type Description, joinDescriptions, type JoinedDescription } from "./description.ts";
import type { ActiveFeature, AnyFeature, Exclusive } from "./feature.ts";
import { GivenRequest, notAllowed, type ParameterForms, readParameters } from "./given_request.ts";
import type { OperationOptions } from "./operation_options.ts";
import { MEDIA_TYPES } from "./request/media_types.ts";
import type { Route } from "./request/route.ts";

interface ReaderRule {
  readonly feature: AnyFeature;
  readonly rule: unknown;
  readonly description: Description;
}

interface ParsedRequest {
  readonly req: FrameworkRequest;
  readonly ofHooks: readonly string[];
  readonly captured: ReadonlyMap<AnyFeature, unknown> | undefined;
  readonly bodyLimits: Required<BodyLimits>;
}

/** In the order of the phases. The exclusive feature is the first. */
export interface ParsedFeatures {
  readonly active: readonly ActiveFeature[];
  /** The exclusive feature. */
  readonly lead?: ActiveFeature;
}

const NOTHING: ParsedFeatures = { active: [] };

/** Only this class parses requests, so that a request cannot use a field that is hidden from its reader. */
export class ReaderOptions {
  readonly #rules: readonly ReaderRule[];
  readonly #exclusive: readonly ReaderRule[];
  readonly #ordinary: readonly ReaderRule[];
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
    this.#offered = [MEDIA_TYPES.json, ...Object.keys(this.description.answer.content)];
    this.#exclusive = rules.filter(({ feature }) => feature.exclusive !== undefined);
    this.#ordinary = rules.filter(({ feature }) => feature.exclusive === undefined);
  }

  start(route: Route): void {
    for (const { feature, rule } of this.#rules) feature.start?.(rule, route);
  }

  /** An exclusive feature refuses all features that its `keeps` does not name. */
  parse({ req, ofHooks, captured, bodyLimits }: ParsedRequest): ParsedFeatures {
    if (this.declared.isEmpty) return NOTHING;
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
    const [lead, second] = this.#exclusive.filter((each) => {
      const { feature, rule } = each;
      if (feature.asks !== undefined) return feature.asks(rule, requestOf(each));
      const parsed = parse(each);
      early.set(each, parsed);
      return parsed.length > 0;
    });
    const exclusive = lead?.feature.exclusive;
    if (exclusive !== undefined && second?.feature.exclusive !== undefined) {
      throw badFormat(exclusive.clash(second.feature.exclusive.noun));
    }
    const applied = exclusive === undefined
      ? this.#ordinary
      : this.#rules.filter(({ feature }) =>
        feature === lead?.feature || exclusive.keeps.includes(feature.name)
      );
    if (exclusive !== undefined) refuseHeaders(req, { exclusive, rules: this.#rules, applied });
    for (const name of given.keys()) {
      if (ofHooks.includes(name) || applied.some((rule) => describes(rule, name))) continue;
      throw exclusive === undefined ? notAllowed(name) : badParameter(name, exclusive.allowed);
    }
    const others = applied.filter((each) => each !== lead).flatMap(parse);
    if (lead === undefined) return { active: others };
    const [first] = early.get(lead) ?? parse(lead);
    return first === undefined ? { active: others } : { lead: first, active: [first, ...others] };
  }
}

interface AppliedRules {
  readonly exclusive: Exclusive;
  readonly rules: readonly ReaderRule[];
  readonly applied: readonly ReaderRule[];
}

/**
 * Clients rely on the effect of a header, so none may be without effect. Headers of other exclusive features are
 * ignored, as in every request without them.
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
