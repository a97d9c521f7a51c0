import { badFormat, refusal } from "../errors/refusals.ts";
import { readProjection, shownBy } from "../filter/projection.ts";
import type { FieldShape } from "../schema/fields/shape.ts";
import { showsOtherThanStored } from "../schema/mongoose/documents/hide_in_json.ts";
import type { Aggregation } from "../sources/source.ts";
import type { OptionPlace } from "./option_reader.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/**
 * The aggregation needs more memory than MongoDB allows. The client has asked for too many results, so the answer is
 * 409.
 */
const MEMORY_LIMITS: readonly unknown[] = [146, 292];

interface ListAggregation extends Aggregation {
  /**
   * The stages of the aggregation must return up to one result more, by which `aggregateList()` finds that there are
   * too many.
   */
  readonly max: number;
  readonly excess: string;
}

/** Too many results are a 409, because an incomplete list would look like all of them. */
export async function aggregateList(
  context: OpenLevelContext,
  { max, excess, ...aggregation }: ListAggregation,
): Promise<Record<string, unknown>[]> {
  const { level: { target }, source } = context;
  checkShown(context, aggregation.fields);
  if (source.aggregate === undefined) {
    throw new TypeError(`Cannot aggregate "${target.name}": it has no collection`);
  }
  const tooMany = (cause?: unknown) =>
    refusal("CONFLICT", { message: excess, limit: max }, { cause });
  const found = await source.aggregate(aggregation).catch((error: unknown) => {
    throw MEMORY_LIMITS.includes(Object(error).code) ? tooMany(error) : error;
  });
  if (found.length > max) throw tooMany();
  return found;
}

/** The results would show the values of a field that the projection of a hook hides. */
function checkShown(
  { level: { shape }, state }: OpenLevelContext,
  fields: readonly string[],
): void {
  const projection = readProjection(state.projection, shape);
  const shows = shownBy(projection, shape);
  // The projection of a hook may show another value in the place of the stored one, as `{ name: "$title" }` does. An
  // aggregation would show the stored value.
  const isStored = (name: string) => typeof projection[name] !== "string";
  for (const name of fields) {
    const field = shape.fields.get(name);
    if (field !== undefined && shows(name, field) && isStored(name)) continue;
    throw badFormat(`Field "${name}" is unknown`, { field: name });
  }
}

/**
 * A function of the model may show another value than is stored. The database reads the stored values, so the results
 * would reveal values that no entity shows.
 */
export function whyUnstored(
  { type }: FieldShape,
  { schema }: OptionPlace,
): string | undefined {
  return showsOtherThanStored(type, schema)
    ? "of which the model shows another value than is stored"
    : undefined;
}
