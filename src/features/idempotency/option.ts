import type { KeepOption } from "../../declare/model/duration.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

/**
 * @internal Options of the header `Idempotency-Key`, with which a client can repeat a `create()` without a second
 * entity, until the key expires.
 */
export interface IdempotencyOptions extends Required<KeepOption> {
  /** Whether a request without the header `Idempotency-Key` answers 400. The default is `false`. */
  readonly required?: boolean | undefined;
  /**
   * Returns a string that identifies the client, so that two clients can use equal keys. Required if clients can see
   * different entities or fields.
   */
  readonly caller?: ((req: FrameworkRequest) => string) | undefined;
}
