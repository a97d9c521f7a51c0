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

/** A class has only one node, or else a class that embeds itself would have infinitely many. */
export interface FilterNode {
  readonly model: string | undefined;
  readonly fields: ReadonlyMap<string, FilterValue>;
  readonly referred?: ReadonlyMap<string, FilterValue>;
}

export interface FilterValue {
  readonly kind: FieldShape["kind"];
  readonly type: string;
  readonly operators: readonly string[];
  /** To compare a whole object would reveal its hidden fields. */
  readonly isComparable: boolean;
  readonly isForAll: boolean;
  readonly example?: ExampleCondition;
  readonly object?: FilterNode;
  readonly element?: FilterValue;
}

const nodes = new WeakMap<Shape, FilterNode>();

interface FilterPlace {
  readonly schema: Schema | undefined;
  readonly model: string | undefined;
}

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

/** A path of the option `filter`, relative to an embedded object. */
interface PathInside {
  readonly path: string;
  /** The field behind a reference in the path. */
  readonly referred?: FilterValue;
}

/** The document must list no filter path that the server refuses. */
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
  const cached = nodes.get(shape);
  if (cached !== undefined) return cached;
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

export function embedsItself(node: FilterNode): boolean {
  return isRecursive(
    node,
    ({ fields }) => [...fields.values()].flatMap((value) => below(value).object ?? []),
  );
}

/** With `open`, a path can continue with any key, as in a Map. With `isLeaf`, it ends at the value. */
export function below(
  value: FilterValue,
): { readonly object?: FilterNode; readonly open?: FilterValue; readonly isLeaf?: boolean } {
  const { kind, object, element } = value;
  if (kind === "map" || kind === "free") return { open: value };
  if (kind === "array" && element !== undefined) return below(element);
  return object === undefined ? { isLeaf: true } : { object };
}
