import { readItems } from "./header_items.ts";

/**
 * `weight` is the value of `q`. `place` is the index in the header, because the first of several ranges with equal
 * weight is preferred.
 */
interface MediaRange {
  readonly name: string;
  readonly weight: number;
  readonly place: number;
}

/** `undefined` means that the client accepts none of the types. A client without a preference gets the first type. */
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
 * A live list is sent only to a client that names its type, because every browser sends wildcards and would get an
 * endless answer.
 */
export function namesType(accept: string | undefined, type: string): boolean {
  return readRanges(accept).some(({ name, weight }) => name === type && weight > 0);
}

/**
 * A range with the parameter `profile` is left out, because the framework sends no answer with a profile. Parameters
 * such as `charset` are ignored.
 */
function readRanges(accept: string | undefined): MediaRange[] {
  return readItems(accept || "*/*").flatMap(({ name, parameters }, place) =>
    parameters.has("profile")
      ? []
      : { name, weight: Number.parseFloat(parameters.get("q") || "1"), place }
  );
}

/** The weight of the most specific range applies, even if a wildcard has a greater weight (RFC 9110). */
function matchOf(type: string, ranges: readonly MediaRange[]) {
  const forms = [type, `${type.split("/", 1)}/*`, "*/*"];
  for (const [index, form] of forms.entries()) {
    const [range] = ranges.filter(({ name }) => name === form).sort((a, b) => b.weight - a.weight);
    if (range === undefined) continue;
    return range.weight > 0 ? { ...range, type, specificity: -index } : undefined;
  }
  return undefined;
}
