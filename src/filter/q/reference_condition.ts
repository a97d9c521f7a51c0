import type { FieldShape } from "../../schema/fields/shape.ts";
import type { Filter } from "../filters.ts";

/** Before the filter is sent, the identifiers of the referred entities replace this operand of `$in`. */
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

  /** A hook that logs the filter of a request shows the condition. */
  toJSON(): Filter {
    return this.conditions;
  }

  /**
   * BSON calls this method if a hook sends the filter before the identifiers are known. Otherwise, BSON would write an
   * empty object, and a negated condition would select every entity.
   */
  toBSON(): never {
    throw new TypeError(
      `Cannot send the condition on "${this.path}": its identifiers are not known in "preFetch"`,
    );
  }
}
