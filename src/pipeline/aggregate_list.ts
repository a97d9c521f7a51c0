import { badFormat, refusal } from "../errors/refusals.ts";
import { readProjection, shownBy } from "../filter/projection.ts";
import type { FieldShape } from "../schema/fields/shape.ts";
import { showsOtherThanStored } from "../schema/mongoose/documents/hide_in_json.ts";
import type { Aggregation } from "../sources/source.ts";
import type { OptionPlace } from "./option_reader.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/** MongoDB's error codes for too little memory: the client has asked for too many results. */
const MEMORY_LIMITS: readonly unknown[] = [146, 292];

interface ListAggregation extends Aggregation {
  /** The stages return up to `max + 1` results, to show an excess. */
  readonly max: number;
  readonly excess: string;
}

/** An incomplete list would look complete, so too many results are a 409. */
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

/** Throws for a field that a hook's projection hides, or else the results would show it. */
function checkShown(
  { level: { shape }, state }: OpenLevelContext,
  fields: readonly string[],
): void {
  const projection = readProjection(state.projection, shape);
  const shows = shownBy(projection, shape);
  // With `{ name: "$title" }`, reads show another value as `name`, but the aggregation would show the stored one.
  const isStored = (name: string) => typeof projection[name] !== "string";
  for (const name of fields) {
    const field = shape.fields.get(name);
    if (field !== undefined && shows(name, field) && isStored(name)) continue;
    throw badFormat(`Field "${name}" is unknown`, { field: name });
  }
}

/** An aggregation shows stored values, so fields for which a getter of the model shows other values are refused. */
export function whyUnstored(
  { type }: FieldShape,
  { schema }: OptionPlace,
): string | undefined {
  return showsOtherThanStored(type, schema)
    ? "of which the model shows another value than is stored"
    : undefined;
}
