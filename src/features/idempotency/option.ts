import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

/**
 * Options of the header `Idempotency-Key`, with which a client can repeat a `create()` without creating a second
 * entity.
 */
export interface IdempotencyOptions {
  /**
   * The time for which a key is stored, such as `"24h"`. A request with the key after this time creates another entity.
   * The unit is `s`, `m`, `h` or `d`.
   */
  readonly keep: `${number}${"s" | "m" | "h" | "d"}`;
  /** With `"required"`, requests without the header answer 400. */
  readonly key?: "required" | undefined;
  /**
   * Returns the name of the caller, so that equal keys of two callers are different keys. The option is required if
   * callers can see different entities or fields, such as with a `scope` or `getConnection`.
   */
  readonly by?: ((req: FrameworkRequest) => string) | undefined;
}
