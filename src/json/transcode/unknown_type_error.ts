/** A value that has no JSON form of its own here: whoever called decodes the document in another way. */
export class UnknownTypeError extends Error {
  /** Always `"UnknownTypeError"`. */
  override readonly name = "UnknownTypeError";
}
