import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { Scalar } from "../model/field_names.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { Words } from "../model/words.ts";

/** @internal */
export type Validator<V> =
  | ((value: V) => unknown)
  | {
    readonly validator: (value: V) => unknown;
    readonly message?: string | ((props: { value: V }) => string);
  };

/**
 * A synchronous function that decides for a request whether a field is hidden or read-only. It runs after the
 * `preFetch` hooks. Any result except `false` hides or protects the field, so that a forgotten `return` never shows it.
 */
export type FieldRule = (req: FrameworkRequest) => boolean;

/** @internal A limit, or a list of the limit and the error message for values beyond it. */
export type Bound<T> = T | readonly [T, string];

/**
 * @internal The options of all fields. Any other option is an error at start-up. Set options for Mongoose plugins in
 * `configure`, as in `schema.path("name").options.indexed = true`.
 */
export interface FieldOptions<V, I = V> extends Words<JsonForm<V>> {
  /**
   * Whether the field must have a value. A string replaces the error message. A function gets the document as `this`,
   * as in `required(this: Note) { … }`.
   */
  readonly required?: boolean | string | readonly [boolean, string] | (() => boolean);
  /**
   * Whether answers leave out the field and clients cannot filter by it. Hooks can read it. With `true`, clients can
   * still write it. With a function, clients from whom it is hidden cannot.
   */
  readonly hidden?: boolean | FieldRule;
  /** Whether request bodies cannot set the field. Hooks can set it. */
  readonly readonly?: boolean | FieldRule;
  /**
   * Whether clients reach the field only by the routes of its `@rest`. The framework then reads the parent without the
   * field, which answers, bodies, filters and orders of the parent lack. Required if a scope or entity hooks limit all
   * reads by these routes, because the parent would show the field without these limits. `false` allows that.
   */
  readonly apart?: boolean;
  /**
   * Whether a unique index prevents equal values in the collection. A write of a value that another entity has answers
   * 409. In a class with tenants, two tenants can have equal values, unless the option is `{ global: true }`.
   */
  readonly unique?: boolean | readonly [boolean, string] | { readonly global: true };
  /**
   * Whether the field has an index. A string is its type, such as `"2dsphere"`, and an object has options of MongoDB.
   */
  readonly index?: boolean | string | object;
  /** Whether the index ignores documents without the field. Otherwise, a unique index allows only one such document. */
  readonly sparse?: boolean;
  /** Whether the value cannot change after the creation of the entity. */
  readonly immutable?: boolean | (() => boolean);
  /**
   * Whether queries read the field. The default is `true`. With `false`, answers show the field only if a projection of
   * a hook names it, and clients cannot filter by it.
   */
  readonly select?: boolean;
  /** Other names by which code can read and set the field on documents. */
  readonly alias?: string | string[];
  /** How long after the date in the field MongoDB removes the document, in seconds or such as `"1d"`. */
  readonly expires?: number | string;
  /**
   * Whether the JSON of a `Date` in bodies, answers and filters is a day, such as `"1980-05-04"`. The database stores
   * midnight in UTC. Declare the field as `DateOnly`, so that the typed client takes only strings.
   */
  readonly dateOnly?: boolean;
  /** The value if neither a body nor a hook sets one. */
  readonly default?: V | null | (() => V | null | (V extends Date ? number : never));
  /** The allowed values, as a list or a TypeScript enum. */
  readonly enum?: readonly (I | null)[] | Readonly<Record<string, string | number>> | {
    readonly values: readonly (I | null)[];
    readonly message?: string;
  };
  /**
   * Validators, or schemas of a validation library. A schema only checks the value and cannot convert it. Writes by the
   * own routes of a property do not run its validators.
   */
  readonly validate?: Validator<V> | StandardSchema | readonly (Validator<V> | StandardSchema)[];
  /** The smallest `Number` or earliest `Date` of the field, or of each element of an array. */
  readonly min?: Bound<I | number>;
  /** The largest `Number` or latest `Date` of the field, or of each element of an array. */
  readonly max?: Bound<I | number>;
  /** The minimum length of a string, or of each string in an array. */
  readonly minLength?: Bound<number>;
  /** The maximum length of a string, or of each string in an array. Limit the length of the array by `validate`. */
  readonly maxLength?: Bound<number>;
  /** The regular expression that a string must match. */
  readonly match?: Bound<RegExp>;
  /** Whether setting a string removes whitespace at both ends, before validation. */
  readonly trim?: boolean;
  /** Whether setting a string converts it to lowercase, before validation. */
  readonly lowercase?: boolean;
  /** Whether setting a string converts it to uppercase, before validation. */
  readonly uppercase?: boolean;
  /**
   * Converts the value when code reads the field of a document. Answers show the stored value, unless the schema has
   * `toJSON: { getters: true }`.
   */
  readonly get?: (value: V) => unknown;
  /** Converts each value that a body or a hook sets, before it is validated and stored. */
  readonly set?: (value: V) => unknown;
  /** Returns the value that answers show in place of the stored value, by which clients still filter and sort. */
  readonly transform?: (value: V) => unknown;
}

/**
 * A schema of a library that implements [Standard Schema](https://standardschema.dev), such as Zod, for `validate` of a
 * field, and `body` and `answer` of an action.
 */
export interface StandardSchema {
  /** The property that every such schema has. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** Returns the converted value, or `issues` if the value is not valid. */
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    /**
     * The types of accepted and returned values, from which TypeScript infers bodies and answers of an action. It has
     * no value at run time.
     */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/** @internal */
export interface StandardResult {
  readonly value?: unknown;
  readonly issues?: readonly StandardIssue[] | undefined;
}

/** @internal `path` leads to the property or element with the problem. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** @internal */
export type JsonScalar<V> = V extends boolean ? V
  : V extends bigint ? string | number
  : V extends string | number ? Literals<V>
  : string;

/** @internal The values of a TypeScript enum as literals, so that `example` can be `"open"` instead of `State.Open`. */
export type Literals<V> = V extends string ? string extends V ? string : `${V}`
  : V extends number
    ? number extends V ? number : `${V}` extends `${infer N extends number}` ? N : number
  : V;

/** @internal The JSON form of a value, for the option `example`. The fields of embedded models are not checked. */
export type JsonForm<V> = unknown extends V ? unknown
  : V extends Scalar ? JsonScalar<V>
  : V extends Map<string, infer I> ? { readonly [key: string]: JsonForm<I> }
  : V extends readonly (infer I)[] ? readonly JsonForm<I>[]
  : V extends FrameworkModel ? { readonly [key: string]: unknown }
  : V extends object ? object
  : V;
