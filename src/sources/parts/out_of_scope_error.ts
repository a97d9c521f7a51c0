import { RestError } from "../../errors/rest_error.ts";

/** The 403 of an update that would leave a scope: it says that nothing was written. */
export class OutOfScopeError extends RestError {
  constructor() {
    super(403, { code: "FORBIDDEN", message: "The entity would be out of reach" });
  }
}
