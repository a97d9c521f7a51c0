import { badFormat, refusal } from "../errors/refusals.ts";
import { readProjection, shownBy } from "../filter/projection.ts";
import type { FieldShape } from "../schema/fields/shape.ts";
import { showsOtherThanStored } from "../schema/mongoose/documents/hide_in_json.ts";
import type { Aggregation } from "../sources/source.ts";
import type { OptionPlace } from "./option_reader.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/**
 * The error codes of MongoDB for an aggregation that needs more memory than allowed. A client with this error has asked
 * for too many results, so the answer is 409.
 */
const MEMORY_LIMITS: readonly unknown[] = [146, 292];

interface ListAggregation extends Aggregation {
  /**
   * The maximum number of results in an answer. The stages of the aggregation must return up to one result more, by
   * which `aggregateList()` finds that there are too many.
   */
  readonly max: number;
  readonly excess: string;
}

/**
 * Runs an aggregation on the entities that a request selects, and returns its results. Answers 400 if a projection of
 * hooks hides one of the fields of the aggregation, and 409 if there are too many results, because an incomplete list
 * would look like all of them.
 */
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

/**
 * Throws a 400 if the projection of a hook hides a field of an aggregation, because the results would show the values
 * of the field.
 */
function checkShown(
  { level: { shape }, state }: OpenLevelContext,
  fields: readonly string[],
): void {
  const projection = readProjection(state.projection, shape);
  const shows = shownBy(projection, shape);
  // A hook may set a projection with an expression, such as `{ name: "$title" }`, so that lists show another value in
  // the place of the stored `name`. An aggregation would show the stored values, so it is refused for this field.
  const isStored = (name: string) => typeof projection[name] !== "string";
  for (const name of fields) {
    const field = shape.fields.get(name);
    if (field !== undefined && shows(name, field) && isStored(name)) continue;
    throw badFormat(`Field "${name}" is unknown`, { field: name });
  }
}

/**
 * Returns the reason why no aggregation may show the values of a field, or `undefined`. A function of the model, such
 * as a getter, may show another value than is stored. The database reads the stored values, so the results would reveal
 * values that no entity shows.
 */
export function whyUnstored(
  { type }: FieldShape,
  { schema }: OptionPlace,
): string | undefined {
  return showsOtherThanStored(type, schema)
    ? "of which the model shows another value than is stored"
    : undefined;
}
