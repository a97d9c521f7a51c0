/** The error of an assertion that does not hold. */
export class AssertionError extends Error {
  /**
   * Makes the error.
   *
   * @param message What does not hold.
   * @param options The options of `Error`.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}
