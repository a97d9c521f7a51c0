import { readItems } from "./header_items.ts";

/** Of equal ranges, the first is preferred, by `place`. */
interface MediaRange {
  readonly name: string;
  readonly weight: number;
  readonly place: number;
}

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

/** Wildcards do not count: every browser sends them, and would get an endless live list. */
export function namesType(accept: string | undefined, type: string): boolean {
  return readRanges(accept).some(({ name, weight }) => name === type && weight > 0);
}

/** A range with a `profile` is left out, because no answer has one. Parameters such as `charset` are ignored. */
function readRanges(accept: string | undefined): MediaRange[] {
  return readItems(accept || "*/*").flatMap(({ name, parameters }, place) =>
    parameters.has("profile")
      ? []
      : { name, weight: Number.parseFloat(parameters.get("q") || "1"), place }
  );
}

/** The most specific range applies, even if a wildcard has a greater weight (RFC 9110). */
function matchOf(type: string, ranges: readonly MediaRange[]) {
  const forms = [type, `${type.split("/", 1)}/*`, "*/*"];
  for (const [index, form] of forms.entries()) {
    const [range] = ranges.filter(({ name }) => name === form).sort((a, b) => b.weight - a.weight);
    if (range === undefined) continue;
    return range.weight > 0 ? { ...range, type, specificity: -index } : undefined;
  }
  return undefined;
}
