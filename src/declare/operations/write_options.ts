import type { ListFormat } from "../hooks/read_options.ts";
import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { FieldNames } from "../model/field_names.ts";
import type { Method } from "./methods.ts";
import { isReadOption, type OperationName } from "./operation.ts";

/** How clients repeat a `create()` safely, by the header `Idempotency-Key`. */
export interface IdempotencyOptions {
  /** How long keys are kept, such as `"24h"`: a number and `s`, `m`, `h` or `d`. */
  readonly keep: `${number}${"s" | "m" | "h" | "d"}`;
  /** With `"required"`, requests without the header answer 400. */
  readonly key?: "required" | undefined;
  /** Returns the name of the caller, to whom keys belong. Needed where there is a `scope` or `getConnection`. */
  readonly by?: ((req: FrameworkRequest) => string) | undefined;
}

/**
 * The options of writes. Without an option, clients cannot ask for what it allows.
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
  /** The most entities that a body of `create()`, an array, may have. All of them are created, or none. */
  readonly many?: number | undefined;
  /**
   * Whether all entities are written or none, in a transaction of the database, which is the default. With `false`,
   * `create()` answers the fate of each one, and no transaction is needed. Only for `create()` with `many`, and `updateAll()`.
   */
  readonly atomic?: boolean | undefined;
  /**
   * The formats besides JSON of the bodies that clients can send: `"ndjson"`, an entity on each line. The lines are stored
   * in batches of `many`, each line by itself, and the answer tells the fate of each. Only for `create()` with `many`.
   */
  readonly formats?: readonly ListFormat[] | undefined;
  /** Lets clients repeat a request safely. Only for `create()`. */
  readonly idempotency?: IdempotencyOptions | undefined;
  /** The fields that a body of `updateAll()` may set. */
  readonly fields?: readonly FieldNames<"set", M>[] | undefined;
  /** The most entities that `updateAll()` (1000 by default) and `removeAll()` may change. More are a 409. */
  readonly max?: number | undefined;
  /** With `"required"`, `removeAll()` refuses requests without the parameter `q`. Those of `updateAll()` always need it. */
  readonly q?: "required" | undefined;
  /**
   * The field by which the path of `replace()` names an entity: `_id`, the default, or a field with a unique index, which
   * may be sparse.
   */
  readonly by?: FieldNames<"key", M> | undefined;
}

/** The options of writes that each operation takes. */
const TAKEN = {
  create: ["many", "atomic", "formats", "idempotency"],
  updateAll: ["fields", "max", "atomic"],
  removeAll: ["max", "q"],
  replace: ["by"],
} as const satisfies { readonly [O in OperationName]?: readonly (keyof WriteOptions)[] };

/** @internal The options of writes that each operation takes. */
export type OptionsWritten = {
  readonly [O in keyof typeof TAKEN]: (typeof TAKEN)[O][number];
};

function takesOption(operation: string, name: string): boolean {
  const taken = Object.hasOwn(TAKEN, operation) ? TAKEN[operation as keyof OptionsWritten] : [];
  return (taken as readonly string[]).includes(name);
}

/** Tells whether an option is one of reads or of writes: `formats` is both. */
export function optionKind({ operation }: Method, name: string): "read" | "write" | undefined {
  if (takesOption(operation, name)) return "write";
  if (isReadOption(name)) return "read";
  return Object.keys(TAKEN).some((other) => takesOption(other, name)) ? "write" : undefined;
}

/** Gives the options of reads, or those of writes, of an operation. */
export function optionsGiven(method: Method, kind: "read" | "write"): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(method.hooks).filter(([name, value]) =>
      value !== undefined && optionKind(method, name) === kind
    ),
  );
}

/** Gives the first of the options of writes that an operation does not take. */
export function misplacedOption({ operation }: Method, given: WriteOptions): string | undefined {
  return Object.keys(given).find((name) => !takesOption(operation, name));
}
