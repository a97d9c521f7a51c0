import type { ListFormat } from "../hooks/read_options.ts";
import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { FieldNames } from "../model/field_names.ts";
import type { Method } from "./methods.ts";
import type { OperationName } from "./operation.ts";

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

/**
 * The options of writes. Clients can use a feature only if its option is set.
 *
 * @example Import movies, archive many at once, and keep one by its key
 * ```ts
 * import { create, FrameworkModel, prop, removeAll, replace, rest, updateAll } from "@mongrove/mongrove";
 *
 * @rest({
 *   route: "/movies",
 *   methods: [
 *     create({ many: 1000, idempotency: { keep: "24h" } }),
 *     updateAll({ fields: ["archived"], max: 1000 }),
 *     removeAll({ max: 1000, q: "required" }),
 *     replace({ by: "slug" }),
 *   ],
 * })
 * class Movie extends FrameworkModel {
 *   @prop({ required: true, unique: true })
 *   slug!: string;
 *   @prop({ type: Boolean, default: false })
 *   archived!: boolean;
 * }
 * ```
 */
export interface WriteOptions<M = unknown> {
  /**
   * The most entities that a body of `create()` may have, which is then an array. By default, either all of them are
   * created or none.
   */
  readonly many?: number | undefined;
  /**
   * Whether either all entities are written or none, in a transaction of the database. The default is `true`. With
   * `false`, no transaction is needed. `create()` then answers a result for each entity, and `updateAll()` an error for
   * each entity that it cannot change. Only for `create()` with `many`, and `updateAll()`.
   */
  readonly atomic?: boolean | undefined;
  /**
   * The formats of bodies besides JSON. With `"ndjson"`, clients can send a body with an entity on each line. The lines
   * are stored in batches of up to `many` lines. A wrong line does not prevent the other lines from being stored, and
   * the answer has a result for each line. Only for `create()` with `many`.
   */
  readonly formats?: readonly ListFormat[] | undefined;
  /**
   * The header `Idempotency-Key`, with which clients can repeat a request without creating a second entity. Only for
   * `create()`.
   */
  readonly idempotency?: IdempotencyOptions | undefined;
  /** The fields that a body of `updateAll()` may set. */
  readonly fields?: readonly FieldNames<"set", M>[] | undefined;
  /**
   * The most entities that `updateAll()` (1000 by default) and `removeAll()` may change. A request that selects more
   * answers 409.
   */
  readonly max?: number | undefined;
  /**
   * With `"required"`, `removeAll()` refuses requests without the parameter `q`. `updateAll()` always refuses such
   * requests.
   */
  readonly q?: "required" | undefined;
  /**
   * The field by which the path of `replace()` names an entity. The default is `_id`. Any other field needs a unique
   * index, which may be sparse.
   */
  readonly by?: FieldNames<"key", M> | undefined;
}

/** The write options of each operation. A write option of another operation is an error at start-up. */
const TAKEN = {
  create: ["many", "atomic", "formats", "idempotency"],
  updateAll: ["fields", "max", "atomic"],
  removeAll: ["max", "q"],
  replace: ["by"],
} as const satisfies { readonly [O in OperationName]?: readonly (keyof WriteOptions)[] };

/** @internal The names of the write options of each operation, for the types of hooks. */
export type OptionsWritten = {
  readonly [O in keyof typeof TAKEN]: (typeof TAKEN)[O][number];
};

export function takesOption(operation: string, name: string): boolean {
  const taken = Object.hasOwn(TAKEN, operation) ? TAKEN[operation as keyof OptionsWritten] : [];
  return (taken as readonly string[]).includes(name);
}

/** Whether an operation has a write option by a name. */
export function isWriteOption(name: string): boolean {
  return Object.keys(TAKEN).some((operation) => takesOption(operation, name));
}

/**
 * Returns the write options of an operation. An option with the value `undefined` counts as absent. The option
 * `formats` of `all()` is no write option.
 */
export function optionsGiven({ operation, hooks }: Method): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(hooks).filter(([name, value]) => {
      const isOfRead = name === "formats" && !takesOption(operation, name);
      return value !== undefined && isWriteOption(name) && !isOfRead;
    }),
  );
}

/**
 * Returns the first write option in `given` that the operation does not take, for the error at start-up. Returns
 * `undefined` if the operation takes all of them.
 */
export function misplacedOption({ operation }: Method, given: WriteOptions): string | undefined {
  return Object.keys(given).find((name) => !takesOption(operation, name));
}
