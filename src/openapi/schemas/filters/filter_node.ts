import type { Schema } from "mongoose";
import { filterFields, operatorsOf, schemaOf } from "../../../filter/q/describe_filter.ts";
import { schemaClass } from "../../../schema/build_schema.ts";
import { typeName } from "../../../schema/describe_object.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";
import { isRecursive, isSecret } from "../../../schema/fields/visibility.ts";

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
}

export function filterNode(shape: Shape, { schema, model }: FilterPlace): FilterNode {
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
  return {
    ...{ kind, type: typeName(field), operators, isComparable: !isSecret(field) },
    ...shape && { object: filterNode(shape, place) },
    ...element && { element: filterValue(element, operatorsOf(element)) },
  };
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
