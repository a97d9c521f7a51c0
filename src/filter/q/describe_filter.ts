import type { Schema } from "mongoose";
import { schemaClass } from "../../schema/build_schema.ts";
import { typeName } from "../../schema/describe_object.ts";
import { isRecursive, isSecret, whyUnseen } from "../../schema/fields/visibility.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import type { QueryLimits } from "./limits.ts";
import { OPERATORS } from "./operators.ts";

/** A path that a filter may name. */
export interface FilterPath {
  /** The path, such as `address.city`. */
  readonly path: string;
  /** The type, as in `ValueDescription`. */
  readonly type: string;
  /** The operators that it takes. */
  readonly operators: readonly string[];
  /** Whether a filter may name any path below it. */
  readonly open?: boolean;
}

/** The filters that the URL parameter `q` may hold. */
export interface FilterDescription {
  /**
   * The paths, besides `$and`, `$or` and `$nor`. Elements of arrays can be named by their index too, such as `tags.0`.
   * Where classes embed themselves or each other, the paths end where a class begins again, and `open` is `true`.
   */
  readonly fields: readonly FilterPath[];
  /** The limits of a filter. */
  readonly limits: QueryLimits;
}

/** An object whose fields a filter may name: one for each shape. */
export interface FilterNode {
  readonly model: string | undefined;
  readonly fields: ReadonlyMap<string, FilterValue>;
}

export interface FilterValue {
  readonly kind: FieldShape["kind"];
  readonly type: string;
  readonly operators: readonly string[];
  /** Whether it can be compared as a whole: nothing in it is hidden. */
  readonly isComparable: boolean;
  readonly object?: FilterNode;
  readonly element?: FilterValue;
}

const nodes = new WeakMap<Shape, FilterNode>();

interface FilterPlace {
  readonly schema: Schema | undefined;
  readonly model: string | undefined;
  /** The only paths that filters may name. */
  readonly paths?: readonly string[] | undefined;
}

export function filterNode(shape: Shape, { schema, model, paths }: FilterPlace): FilterNode {
  const node = wholeNode(shape, { schema, model });
  return paths === undefined ? node : listedNode(node, paths);
}

/** Gives a node with the fields that are listed, or that hold something that is. */
function listedNode({ model, fields }: FilterNode, paths: readonly string[]): FilterNode {
  const listed = [...fields].flatMap(([name, value]): [string, FilterValue][] => {
    const inside = paths.filter((path) => path.startsWith(`${name}.`))
      .map((path) => path.slice(name.length + 1));
    const isListed = paths.includes(name);
    return isListed || inside.length > 0 ? [[name, listedValue(value, { isListed, inside })]] : [];
  });
  return { model, fields: new Map(listed) };
}

function listedValue(
  { object, element, ...value }: FilterValue,
  listed: { readonly isListed: boolean; readonly inside: readonly string[] },
): FilterValue {
  return {
    ...value,
    ...!listed.isListed && { operators: [], isComparable: false },
    ...object && { object: listedNode(object, listed.inside) },
    ...element && { element: listedValue(element, listed) },
  };
}

function wholeNode(shape: Shape, { schema, model }: FilterPlace): FilterNode {
  const known = nodes.get(shape);
  if (known !== undefined) return known;
  const fields = new Map<string, FilterValue>();
  const node = { model, fields };
  nodes.set(shape, node);
  const places = placesIn(schema);
  for (const [name, field] of shape.fields) {
    if (whyUnseen(field) === undefined) fields.set(name, describeValue(field, places.has(name)));
  }
  return node;
}

/** The fields with an index of places: the others have no use for the operators of places. */
function placesIn(schema: Schema | undefined): ReadonlySet<string> {
  const keys = schema?.indexes().flatMap(([key]) => Object.entries(key)) ?? [];
  return new Set(keys.filter(([, kind]) => /^2d/.test(String(kind))).map(([path]) => path));
}

function describeValue(field: FieldShape, isPlace: boolean): FilterValue {
  const { kind, type, shape, element } = field;
  const schema = (type as { schema?: Schema } | undefined)?.schema;
  const isComparable = !isSecret(field);
  return {
    kind,
    type: typeName(field),
    operators: [...OPERATORS.keys()].filter((name) => isTaken(name, { field, isPlace })),
    isComparable,
    ...shape && { object: wholeNode(shape, { schema, model: schemaClass(type)?.name }) },
    ...element && { element: describeValue(element, false) },
  };
}

const OF_PLACES = /^\$(geo|near|minDistance|maxDistance)/;

function isTaken(
  name: string,
  { field, isPlace }: { readonly field: FieldShape; readonly isPlace: boolean },
): boolean {
  const { kind } = field;
  if (OF_PLACES.test(name)) return isPlace && kind !== "scalar";
  if (name === "$elemMatch") return kind === "array" || kind === "free";
  if (name === "$regex" || name === "$options") return kind !== "object" && kind !== "map";
  return OPERATORS.get(name)?.reads !== "whole" || !isSecret(field);
}

export function listPaths(
  { fields }: FilterNode,
  { prefix = "", seen = new Set() }: { prefix?: string; seen?: Set<FilterNode> } = {},
): FilterPath[] {
  return [...fields].flatMap(([name, value]) => {
    const { type, operators } = value;
    const path = `${prefix}${name}`;
    const { object, open } = below(value);
    const ends = object !== undefined && seen.has(object);
    const own = { path, type, operators, ...(open !== undefined || ends) && { open: true } };
    if (object === undefined || ends) return [own];
    if (embedsItself(object)) seen.add(object);
    const inside = listPaths(object, { prefix: `${path}.`, seen });
    return operators.length > 0 ? [own, ...inside] : inside;
  });
}

/** Whether the paths below an object would never end. */
export function embedsItself(node: FilterNode): boolean {
  return isRecursive(
    node,
    ({ fields }) => [...fields.values()].flatMap((value) => below(value).object ?? []),
  );
}

/** The object below a value, in arrays too; or the Map or free-form data that it is. */
export function below(
  value: FilterValue,
): { readonly object?: FilterNode; readonly open?: FilterValue; readonly isLeaf?: boolean } {
  const { kind, object, element } = value;
  if (kind === "map" || kind === "free") return { open: value };
  if (kind === "array" && element !== undefined) return below(element);
  return object === undefined ? { isLeaf: true } : { object };
}
