import type { Duration } from "../../declare/model/duration.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

/**
 * @internal Options of the header `Idempotency-Key`, with which a client can repeat a `create()` without creating a
 * second entity.
 */
export interface IdempotencyOptions {
  /**
   * The time for which an idempotency key is stored, such as `"24h"`. The unit is `s`, `m`, `h` or `d`. A request that
   * repeats the key after this time creates another entity.
   */
  readonly keep: Duration;
  /**
   * Whether a request without the header `Idempotency-Key` is refused with a 400. The default is `false`.
   */
  readonly required?: boolean | undefined;
  /**
   * Returns a text that identifies the client of a request, such as a user name, so that equal keys of two clients are
   * different keys. The option is required if clients can see different entities or fields, such as with a `scope` or
   * `getConnection`.
   */
  readonly caller?: ((req: FrameworkRequest) => string) | undefined;
}
