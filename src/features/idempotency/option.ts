import type { KeepOption } from "../../declare/model/duration.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

/**
 * @internal Options of the header `Idempotency-Key`, with which a client can repeat a `create()` without creating a
 * second entity. A request that repeats an expired key creates another entity.
 */
export interface IdempotencyOptions extends Required<KeepOption> {
  /** Whether a request without the header `Idempotency-Key` answers 400. The default is `false`. */
  readonly required?: boolean | undefined;
  /**
   * Returns a text that identifies the client of a request, so that equal keys of two clients are different keys. The
   * option is required if clients can see different entities or fields.
   */
  readonly caller?: ((req: FrameworkRequest) => string) | undefined;
}
