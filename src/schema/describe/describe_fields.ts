import type { FieldNode, ObjectNode, ValueNode } from "./object_node.ts";

/** A value of a body or an answer. */
export interface ValueDescription {
  /**
   * `String`, `Number`, `Boolean`, `Date`, `BigInt`, `Buffer`, `ObjectId`, `Decimal128`, `UUID`, `Object` (free form),
   * `Embedded` (an object with `fields`), `Array` and `Map` (of `items`), or the name of a type of your own.
   */
  readonly type: string;
  /** The class of an embedded object, or the class that an identifier refers to. */
  readonly model?: string;
  /** The elements of an array, or the values of a Map. */
  readonly items?: ValueDescription;
  /**
   * The fields of an embedded object. Where classes embed themselves or each other, each of them has its fields once in
   * a body or an answer, at its first place.
   */
  readonly fields?: readonly FieldDescription[];
}

/** A field of a body or an answer. */
export interface FieldDescription extends ValueDescription {
  /** The name. */
  readonly name: string;
  /** Whether the field is always there: in a stored entity, or in a valid body. */
  readonly required: boolean;
  /** Whether request bodies cannot set the field. */
  readonly readonly: boolean;
}

/** Describes the fields of an object as a tree: objects that embed themselves are described once. */
export function describeFields(
  node: ObjectNode,
  described = new Set<ObjectNode>(),
): FieldDescription[] {
  if (node.recursive) described.add(node);
  return node.fields.map((field) => describeField(field, described));
}

function describeField(node: FieldNode, described: Set<ObjectNode>): FieldDescription {
  const { name, required, readonly } = node;
  return { name, ...describeValue(node, described), required, readonly };
}

function describeValue(
  { object, items, type, model }: ValueNode,
  described: Set<ObjectNode>,
): ValueDescription {
  return {
    type,
    ...model !== undefined && { model },
    ...object !== undefined && !described.has(object) &&
      { fields: describeFields(object, described) },
    ...items !== undefined && { items: describeValue(items, described) },
  };
}
