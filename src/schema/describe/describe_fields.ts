import { isJson } from "../fields/json.ts";
import type { DeclaredRules } from "../mongoose/schemas/field_rules.ts";
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
  /** Whether it may be `null`: in an answer, or in a body, where `null` clears a field. */
  readonly nullable?: boolean;
  /** The values that are allowed. */
  readonly enum?: readonly unknown[];
  /** The smallest number, or the first date. */
  readonly minimum?: number | string;
  /** The largest number, or the last date. */
  readonly maximum?: number | string;
  /** The minimum length of a text. */
  readonly minLength?: number;
  /** The maximum length of a text. */
  readonly maxLength?: number;
  /** The regular expression of a text, if it has no flags. */
  readonly pattern?: string;
}

/** A field of a body or an answer. */
export interface FieldDescription extends ValueDescription {
  /** The name. */
  readonly name: string;
  /**
   * Whether the field is always there: in a valid body, or in an entity that was written through the model and that no
   * hook has changed.
   */
  readonly required: boolean;
  /** Whether request bodies cannot set the field. */
  readonly readonly: boolean;
  /** The value of a field that a new entity leaves out, if it is always the same and holds nothing hidden. */
  readonly default?: unknown;
  /** The option `summary`. */
  readonly summary?: string;
  /** The option `description`. */
  readonly description?: string;
  /** The option `deprecated`. */
  readonly deprecated?: boolean;
  /** The option `example`. An answer has none for a field that holds something hidden. */
  readonly example?: unknown;
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
  const { name, required, readonly, words } = node;
  return {
    name,
    ...describeValue(node, described),
    required,
    readonly,
    ..."default" in node && { default: node.default },
    ...words,
  };
}

function describeValue(
  { object, items, type, model, nullable, rules }: ValueNode,
  described: Set<ObjectNode>,
): ValueDescription {
  return {
    type,
    ...model !== undefined && { model },
    ...object !== undefined && !described.has(object) &&
      { fields: describeFields(object, described) },
    ...items !== undefined && { items: describeValue(items, described) },
    ...nullable && { nullable },
    ...tellRules(rules),
  };
}

function tellRules({ match, enum: allowed, ...bounds }: DeclaredRules) {
  const told = Object.entries(bounds).map(([name, bound]) => {
    return [name, bound instanceof Date ? bound.toJSON() : bound] as const;
  });
  return {
    ...isJson(allowed) && { enum: allowed as readonly unknown[] },
    ...Object.fromEntries(told),
    ...match?.flags === "" && { pattern: match.source },
  };
}
