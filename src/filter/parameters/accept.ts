import { readItems } from "./header_items.ts";

/** A media range of the header `Accept`. */
interface MediaRange {
  readonly name: string;
  readonly weight: number;
  readonly place: number;
}

/**
 * Chooses the media type that a client likes best; `undefined` if the client accepts none. The first one is chosen where the
 * client has no preference.
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

/** Whether a client names a media type. Wildcards do not name one: every browser sends them. */
export function namesType(accept: string | undefined, type: string): boolean {
  return readRanges(accept).some(({ name, weight }) => name === type && weight > 0);
}

/**
 * Reads the ranges of `Accept`. Parameters such as `charset` are ignored. A range with a `profile` is left out: it asks for a
 * form of the type that no answer has.
 */
function readRanges(accept: string | undefined): MediaRange[] {
  return readItems(accept || "*/*").flatMap(({ name, parameters }, place) =>
    parameters.has("profile")
      ? []
      : { name, weight: Number.parseFloat(parameters.get("q") || "1"), place }
  );
}

/** Finds the most specific range that a type is in; `undefined` if the client does not accept the type. */
function matchOf(type: string, ranges: readonly MediaRange[]) {
  const forms = [type, `${type.split("/", 1)}/*`, "*/*"];
  for (const [index, form] of forms.entries()) {
    const [range] = ranges.filter(({ name }) => name === form).sort((a, b) => b.weight - a.weight);
    if (range === undefined) continue;
    return range.weight > 0 ? { ...range, type, specificity: -index } : undefined;
  }
  return undefined;
}
