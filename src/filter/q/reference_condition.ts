import type { FieldShape } from "../../schema/fields/shape.ts";
import type { Filter } from "../filters.ts";

/** The identifiers of the referred entities replace this operand before the filter is sent. */
export class ReferenceCondition {
  readonly path: string;
  readonly reference: FieldShape;
  readonly conditions: Filter;

  constructor(
    { path, reference, conditions }: Pick<
      ReferenceCondition,
      "path" | "reference" | "conditions"
    >,
  ) {
    this.path = path;
    this.reference = reference;
    this.conditions = conditions;
  }

  toJSON(): Filter {
    return this.conditions;
  }

  /** If a hook sent this object, BSON would write it as empty, and a negated condition would select every entity. */
  toBSON(): never {
    throw new TypeError(
      `Cannot send the condition on "${this.path}": its identifiers are not known in "preFetch"`,
    );
  }
}
