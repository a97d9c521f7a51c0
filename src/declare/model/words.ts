/** @internal */
export interface Words<E> {
  /** A short summary for the OpenAPI document. */
  readonly summary?: string | undefined;
  /** A description for the OpenAPI document, in CommonMark. */
  readonly description?: string | undefined;
  /** Whether the OpenAPI document marks the field or the operation as deprecated. */
  readonly deprecated?: boolean | undefined;
  /**
   * An example for the OpenAPI document, in JSON, in which dates and identifiers are strings. For a write or an action,
   * it is a body. For `all()` and `one()`, it is an entity, and a field in it that is `hidden` or `select: false` is an
   * error at start-up.
   */
  readonly example?: E | undefined;
}
