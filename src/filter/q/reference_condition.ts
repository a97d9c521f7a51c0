import type { FieldShape } from "../../schema/fields/shape.ts";
import type { Filter } from "../filters.ts";

/**
 * A condition of a client on the entities of a reference, such as `author.name`, before the identifiers of these
 * entities are known. The compiled filter has this object as the operand of `$in`. Before the filter is sent, the
 * operand is replaced by the identifiers, which are read from the collection of the referred class.
 */
export class ReferenceCondition {
  /** The path that the client has written in its filter, such as `author.name`, for error messages. */
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

  /**
   * Returns the condition in the form of a filter, so that a hook that logs the filter of a request shows the
   * condition.
   */
  toJSON(): Filter {
    return this.conditions;
  }

  /**
   * Throws if a hook sends the filter before the identifiers are known, because BSON calls this method for each object
   * that it writes. Otherwise, BSON would write an empty object, and a negated condition would select every entity.
   */
  toBSON(): never {
    throw new TypeError(
      `Cannot send the condition on "${this.path}": its identifiers are not known in "preFetch"`,
    );
  }
}
