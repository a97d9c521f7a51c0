import type { Schema } from "mongoose";
import {
  ELEMENT_OPERATORS,
  filterFields,
  operatorsOf,
  schemaOf,
} from "../../../describe/describe_filter.ts";
import type { ListedPaths } from "../../../filter/q/listed_paths.ts";
import { schemaClass } from "../../../schema/build_schema.ts";
import { typeName } from "../../../describe/describe_object.ts";
import { isHiddenFromSome } from "../../../schema/fields/rights.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";
import { isRecursive, isSecret } from "../../../schema/fields/visibility.ts";
import { type ExampleCondition, exampleCondition } from "./filter_example.ts";

/**
 * The description of an object whose fields a filter may name, for the OpenAPI document. Each class has one such
 * description, so that the description of a class that embeds itself is finite.
 */
export interface FilterNode {
  readonly model: string | undefined;
  readonly fields: ReadonlyMap<string, FilterValue>;
  /** The paths that a filter may name in entities to which the object refers, such as `author.name`. */
  readonly referred?: ReadonlyMap<string, FilterValue>;
}

export interface FilterValue {
  readonly kind: FieldShape["kind"];
  readonly type: string;
  readonly operators: readonly string[];
  /**
   * Whether a filter may compare the whole value of a field, such as an embedded object. If the object has a hidden
   * field, the comparison would reveal the hidden field.
   */
  readonly isComparable: boolean;
  /** Whether all readers see the field, so that the example of a filter in the OpenAPI document may name it. */
  readonly isForAll: boolean;
  /**
   * A condition on the field for the example of a filter in the OpenAPI document. Missing if the example cannot name
   * the field, such as a field that some readers do not see.
   */
  readonly example?: ExampleCondition;
  readonly object?: FilterNode;
  readonly element?: FilterValue;
}

const nodes = new WeakMap<Shape, FilterNode>();

interface FilterPlace {
  readonly schema: Schema | undefined;
  readonly model: string | undefined;
}

/**
 * Returns the description of the fields that a filter may name, from which the OpenAPI document describes the parameter
 * `q`. With `listed`, the description has only the paths in the option `filter`.
 */
export function filterNode(
  shape: Shape,
  { listed, ...place }: FilterPlace & { readonly listed?: ListedPaths | undefined },
): FilterNode {
  const node = wholeNode(shape, place);
  if (listed === undefined) return node;
  const paths = listed.names.map((path): PathInside => {
    const field = listed.referred.get(path)?.field;
    return { path, ...field && { referred: filterValue(field, operatorsOf(field)) } };
  });
  return listedNode(node, paths);
}

/**
 * A path in the option `filter`, such as `address.city`. In the description of the embedded object `address`, the path
 * is only the rest `city`.
 */
interface PathInside {
  readonly path: string;
  /**
   * The field to which the path leads, if the path goes through a reference to another class, such as `author.name`.
   */
  readonly referred?: FilterValue;
}

/**
 * Returns a description with only the fields that the option `filter` has or that contain such a field, so that the
 * OpenAPI document names no path that the server refuses.
 */
function listedNode({ model, fields }: FilterNode, paths: readonly PathInside[]): FilterNode {
  const referred = new Map<string, FilterValue>();
  const listed = [...fields].flatMap(([name, value]): [string, FilterValue][] => {
    let inside = paths.filter(({ path }) => path.startsWith(`${name}.`))
      .map((each) => ({ ...each, path: each.path.slice(name.length + 1) }));
    if (below(value).isLeaf) {
      for (const each of inside) {
        if (each.referred !== undefined) referred.set(`${name}.${each.path}`, each.referred);
      }
      inside = [];
    }
    const isListed = paths.some(({ path }) => path === name);
    return isListed || inside.length > 0 ? [[name, listedValue(value, { isListed, inside })]] : [];
  });
  return { model, fields: new Map(listed), ...referred.size > 0 && { referred } };
}

function listedValue(
  { object, element, example, ...value }: FilterValue,
  listed: { readonly isListed: boolean; readonly inside: readonly PathInside[] },
): FilterValue {
  return {
    ...value,
    ...!listed.isListed && {
      operators: value.kind === "array" ? ELEMENT_OPERATORS : [],
      isComparable: false,
    },
    ...listed.isListed && example && { example },
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
  for (const [name, field, operators] of filterFields(shape, schema)) {
    fields.set(name, filterValue(field, operators));
  }
  return node;
}

function filterValue(field: FieldShape, operators: readonly string[]): FilterValue {
  const { kind, type, shape, element } = field;
  const place = { schema: schemaOf(field), model: schemaClass(type)?.name };
  const isForAll = !isHiddenFromSome(field);
  const example = isForAll ? exampleCondition(field) : undefined;
  return {
    kind,
    type: typeName(field),
    operators,
    isComparable: !isSecret(field),
    isForAll,
    ...example && { example },
    ...shape && { object: wholeNode(shape, place) },
    ...element && { element: filterValue(element, operatorsOf(element)) },
  };
}

/**
 * Whether a class embeds itself at any depth, such as a comment with answers that are comments. The OpenAPI document
 * cannot list all paths of such a class, and allows deep paths by a pattern.
 */
export function embedsItself(node: FilterNode): boolean {
  return isRecursive(
    node,
    ({ fields }) => [...fields.values()].flatMap((value) => below(value).object ?? []),
  );
}

/**
 * Returns the embedded object whose fields a path can name after a field, for a single object and for an array of
 * objects. Returns the field as `open` for a Map or free-form data, whose keys are not declared. Returns `isLeaf` for a
 * field without nested fields.
 */
export function below(
  value: FilterValue,
): { readonly object?: FilterNode; readonly open?: FilterValue; readonly isLeaf?: boolean } {
  const { kind, object, element } = value;
  if (kind === "map" || kind === "free") return { open: value };
  if (kind === "array" && element !== undefined) return below(element);
  return object === undefined ? { isLeaf: true } : { object };
}
