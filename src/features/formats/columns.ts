import type { Schema } from "mongoose";
import { readProjection, shownBy, type Shows, unshownFields } from "../../filter/projection.ts";
import { schemaOf } from "../../describe/describe_filter.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { buildSchema, schemaClass } from "../../schema/build_schema.ts";
import type { LevelContext } from "../../pipeline/request/request_context.ts";

export interface Column {
  readonly names: readonly string[];
  /**
   * The `'` that keeps strings from being formulas would spoil a number that JSON shows as a string, such as `"-5"`.
   */
  readonly isNumeric: boolean;
}

const NUMERIC: ReadonlySet<unknown> = new Set(["BigInt", "Decimal128", "Number"]);

export function columnsOf(
  { pieces: { shown, fills }, level: { shape, target, link }, state, route, req }: LevelContext,
): readonly Column[] {
  const removalOf = (each: Shape) => {
    const owner = schemaClass(each);
    return owner && route.features.removalFieldsOf(owner);
  };
  const showsRemoved = removalOf(shape)?.isOfRemoved(req) === true;
  const schema = link?.embedded ? buildSchema(target).schema : undefined;
  const projection = readProjection(state.projection, shape);
  const shows = shownBy(projection, shape);
  const unshown = unshownFields(projection, shape);
  return columnsIn(shape, {
    isRead: (field) => !unshown.has(field),
    filled: fills?.shown,
    schema,
    // Only removed entities have fields such as `deletedAt`, so other lists have no such columns.
    isEmpty: (name, of) =>
      (of !== shape || !showsRemoved && shown === undefined) &&
      removalOf(of)?.all.includes(name) === true,
    shows: (path, field) => {
      const [name = ""] = path.split(".");
      return shown === undefined ? shows(path, field) : name === "_id" || shown.includes(name);
    },
  });
}

interface ColumnOptions {
  readonly shows?: Shows;
  readonly isEmpty?: (name: string, of: Shape) => boolean;
  /** A projection of a hook may name a field with `select: false`. */
  readonly isRead?: (field: FieldShape) => boolean;
  /** The shown fields of each populated reference, or `undefined` for all. */
  readonly filled?: ReadonlyMap<string, readonly string[] | undefined> | undefined;
  readonly prefix?: readonly string[];
  readonly schema?: Schema | undefined;
  /** Outer shapes get no columns again: an object that contains itself would have endless columns. */
  readonly above?: readonly Shape[];
}

export function columnsIn(
  shape: Shape,
  options: ColumnOptions = {},
): Column[] {
  const { shows = () => true, isEmpty = () => false, filled, prefix = [], schema, above = [] } =
    options;
  const { isRead = ({ selected }) => selected } = options;
  if (above.includes(shape)) return [];
  // An embedded entity never stores its version, so the column would be empty.
  const version: unknown = schema?.get("versionKey");
  const columns = [...shape.fields].flatMap(([name, field]): Column[] => {
    const names = [...prefix, name];
    const isVisible = !field.hidden && isRead(field) && shows(names.join("."), field);
    if (!isVisible || name === version || isEmpty(name, shape)) return [];
    const inside = { isEmpty, prefix: names, above: [...above, shape] };
    if (filled?.has(name) && field.populated !== undefined) {
      return columnsIn(field.populated, { ...inside, shows: shownIn(filled.get(name)) });
    }
    if (field.shape !== undefined) {
      return columnsIn(field.shape, { ...inside, schema: schemaOf(field), shows, isRead });
    }
    if (field.kind !== "scalar") return [];
    return [{ names, isNumeric: NUMERIC.has(field.type?.instance) }];
  });
  const isId = ({ names }: Column) => names.at(-1) === "_id" && names.length === prefix.length + 1;
  return [...columns.filter(isId), ...columns.filter((each) => !isId(each))];
}

function shownIn(select: readonly string[] | undefined): Shows {
  return (path) => {
    const [, name = ""] = path.split(".");
    return select === undefined || name === "_id" || select.includes(name);
  };
}
