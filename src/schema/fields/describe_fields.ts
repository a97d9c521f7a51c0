import type { Schema, SchemaType } from "mongoose";
import { schemaClass } from "../build_schema.ts";
import { isRequired } from "../mongoose/fields/field_rules.ts";
import { classOf } from "../model_name.ts";
import { leftOut } from "./left_out.ts";
import type { FieldShape, Shape } from "./shape.ts";

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
  /** The fields of an embedded object. Missing if the object is inside an object of the same class. */
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

/** What is described: an answer, a body that makes something new, or a body that changes something. */
export type View = "answer" | "new" | "patch";

/**
 * Describes the fields that an answer shows, or that a body may set.
 *
 * @param schema The schema of the shape, if the entity is embedded: it has no version then.
 */
export function describeFields(
  shape: Shape,
  view: View,
  { schema }: EmbeddedIn = {},
): FieldDescription[] {
  return new Describer(view).fields(shape, schema);
}

/** Where an entity is stored. */
interface EmbeddedIn {
  readonly schema?: Schema | undefined;
}

class Describer {
  readonly #view: View;
  readonly #within = new Set<Shape>();

  constructor(view: View) {
    this.#view = view;
  }

  fields(shape: Shape, embedded?: Schema): FieldDescription[] {
    this.#within.add(shape);
    const version: unknown = embedded?.get("versionKey");
    const fields = [...shape.fields]
      .filter(([name, field]) => name !== version && this.#isSeen(field))
      .map(([name, field]) => ({
        name,
        ...this.#value(field),
        required: this.#isRequired(field),
        readonly: !field.writable,
      }));
    this.#within.delete(shape);
    return fields;
  }

  #isSeen({ hidden, selected, writable }: FieldShape): boolean {
    return this.#view === "answer" ? !hidden && selected : writable;
  }

  #isRequired(field: FieldShape): boolean {
    if (this.#view === "patch" || !isRequired(field.type)) return false;
    return this.#view === "answer" || leftOut(field).kind === "nothing";
  }

  #value(field: FieldShape): ValueDescription {
    const { kind, type, shape, element } = field;
    const model = modelOf(type);
    return {
      type: typeName(field),
      ...model !== undefined && { model },
      ...shape !== undefined && !this.#within.has(shape) &&
        { fields: this.fields(shape, (type as { schema?: Schema } | undefined)?.schema) },
      ...element !== undefined && { items: this.#element(kind, element) },
    };
  }

  /** A patch replaces the elements of an array, and merges into the values of a Map. */
  #element(kind: FieldShape["kind"], element: FieldShape): ValueDescription {
    if (this.#view !== "patch" || kind !== "array") return this.#value(element);
    const replaced = new Describer("new");
    for (const shape of this.#within) replaced.#within.add(shape);
    return replaced.#value(element);
  }
}

function typeName({ kind, type }: FieldShape): string {
  switch (kind) {
    case "free":
      return "Object";
    case "object":
      return "Embedded";
    case "array":
      return "Array";
    case "map":
      return "Map";
    default:
      return type?.instance ?? "Object";
  }
}

function modelOf(type: SchemaType | undefined): string | undefined {
  const ref: unknown = type?.options.ref;
  const target = typeof ref === "string" ? classOf(ref) : schemaClass(type);
  return target?.name;
}
