import { readItems } from "./header_items.ts";

/**
 * A media range of the header `Accept`, such as `text/*;q=0.5`. `weight` is the value of `q`. `place` is the index of
 * the range in the header, because the first of several ranges with equal weight is preferred.
 */
interface MediaRange {
  readonly name: string;
  readonly weight: number;
  readonly place: number;
}

/**
 * Returns the media type that a client prefers, so that the answer is sent in this type. Returns `undefined` if the
 * client accepts none of the types, so that the caller answers 406. Returns the first type if the client has no
 * preference.
 *
 * @param accept The header `Accept`. A client without it accepts all types.
 */
export function chooseType(
  accept: string | undefined,
  types: readonly string[],
): string | undefined {
  const ranges = readRanges(accept);
  const [best] = types.flatMap((type) => matchOf(type, ranges) ?? []).sort((a, b) =>
    b.weight - a.weight || b.specificity - a.specificity || a.place - b.place
  );
  return best?.type;
}

/**
 * Whether the header `Accept` names a media type exactly. A live list is sent only to a client that names its type,
 * because every browser sends wildcards and would get an endless answer.
 */
export function namesType(accept: string | undefined, type: string): boolean {
  return readRanges(accept).some(({ name, weight }) => name === type && weight > 0);
}

/**
 * Reads the media ranges of the header `Accept`. Parameters such as `charset` are ignored. A range with the parameter
 * `profile` is left out, because the framework sends no answer with a profile.
 */
function readRanges(accept: string | undefined): MediaRange[] {
  return readItems(accept || "*/*").flatMap(({ name, parameters }, place) =>
    parameters.has("profile")
      ? []
      : { name, weight: Number.parseFloat(parameters.get("q") || "1"), place }
  );
}

/**
 * Returns the most specific media range that matches a media type. The weight of this range applies, even if a wildcard
 * has a greater weight (RFC 9110). Returns `undefined` if the client does not accept the type.
 */
function matchOf(type: string, ranges: readonly MediaRange[]) {
  const forms = [type, `${type.split("/", 1)}/*`, "*/*"];
  for (const [index, form] of forms.entries()) {
    const [range] = ranges.filter(({ name }) => name === form).sort((a, b) => b.weight - a.weight);
    if (range === undefined) continue;
    return range.weight > 0 ? { ...range, type, specificity: -index } : undefined;
  }
  return undefined;
}
