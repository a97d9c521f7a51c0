import type { FieldShape } from "../../schema/fields/shape.ts";
import type { Filter } from "../filters.ts";

/**
 * A condition on the entities of a reference, in the place of their identifiers. The compiled filter of a client has it
 * as the operand of `$in`, until the pipeline has asked the referred class for the identifiers.
 */
export class ReferenceCondition {
  /** The path in the filter of the client, for error messages. */
  readonly path: string;
  readonly reference: FieldShape;
  /** The filter on the entities of the referred class. */
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

  /** Returns the filter on the referred class, for hooks that log the filter of a request. */
  toJSON(): Filter {
    return this.conditions;
  }

  /**
   * Throws, because BSON would otherwise store an empty object, and a negated condition would select every entity. BSON
   * calls the method if a hook sends the filter before the identifiers are known.
   */
  toBSON(): never {
    throw new TypeError(
      `Cannot send the condition on "${this.path}": its identifiers are not known in "preFetch"`,
    );
  }
}
