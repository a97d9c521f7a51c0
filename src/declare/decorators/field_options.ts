import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { Scalar } from "../model/field_names.ts";
import type { FrameworkModel } from "../model/framework_model.ts";

/**
 * A validator of Mongoose, which is a function that returns whether a value is valid. An object also has the message
 * for values that are not valid.
 */
export type Validator<V> =
  | ((value: V) => unknown)
  | {
    readonly validator: (value: V) => unknown;
    readonly message?: string | ((props: { value: V }) => string);
  };

/**
 * A function that returns whether a field is hidden, or read-only, for a request. The function is called once for each
 * request, after the `preFetch` hooks. The function must be synchronous. Any result except `false` hides or protects
 * the field.
 */
export type FieldRule = (req: FrameworkRequest) => boolean;

/** @internal A limit, alone or with the message for values beyond the limit. */
export type Bound<T> = T | readonly [T, string];

/**
 * Options of a field, which are the options of Mongoose and the options of this interface, such as `hidden`. Any other
 * option is an error at start-up. An option for a plugin is set in `configure`, as in
 * `schema.path("name").options.indexed = true`.
 */
export interface FieldOptions<V, I = V> {
  /**
   * Whether the field must have a value. A function gets the document as `this`, as in `required(this: Note) { … }`.
   */
  readonly required?: boolean | string | readonly [boolean, string] | (() => boolean);
  /**
   * Whether the field is a secret. No answer contains the field, and no filter of a client can name it. Hooks can read
   * the field. With `true`, clients can still write the field. With a function, a client from which the function hides
   * the field cannot write it.
   */
  readonly hidden?: boolean | FieldRule;
  /** Whether request bodies cannot set the field. Hooks can set it. */
  readonly readonly?: boolean | FieldRule;
  /**
   * Whether the parent leaves out this field, which has routes. Answers, bodies, filters and orders of the parent then
   * do not have the field, and reads of the parent do not load it. The option is required if all reads of the field's
   * routes are limited by a scope or entity hooks, because these do not limit the parent. With `false`, the parent
   * shows the whole field.
   */
  readonly apart?: boolean;
  /** Whether a unique index prevents equal values in the collection. */
  readonly unique?: boolean | readonly [boolean, string];
  /** Whether the field has an index, or the options of the index. */
  readonly index?: boolean | string | object;
  /** Whether the index of the field leaves out documents without the field. */
  readonly sparse?: boolean;
  /** Whether the value cannot change after the creation of the entity. */
  readonly immutable?: boolean | (() => boolean);
  /** Whether queries read the field. The default is `true`. Clients cannot filter by a field with `select: false`. */
  readonly select?: boolean;
  /** Other names of the field on documents. */
  readonly alias?: string | string[];
  /**
   * The time, after the date in the field, at which the database removes the document, as a number of seconds or a text
   * such as `"1d"`.
   */
  readonly expires?: number | string;
  /** A summary of the field, in a few words. */
  readonly summary?: string;
  /** A description of the field, in CommonMark. */
  readonly description?: string;
  /** Whether clients should stop using the field. */
  readonly deprecated?: boolean;
  /**
   * An example of a value in JSON form, in which dates and identifiers are texts. The OpenAPI document shows the
   * example.
   */
  readonly example?: JsonForm<V>;
  /** The value of the field if neither a body nor a hook gives one. */
  readonly default?: V | null | (() => V | null | (V extends Date ? number : never));
  /** The allowed values, as a list or a TypeScript enum. */
  readonly enum?: readonly (I | null)[] | Readonly<Record<string, string | number>> | {
    readonly values: readonly (I | null)[];
    readonly message?: string;
  };
  /** Validators, or schemas of a validation library. A schema only checks the value and cannot convert it. */
  readonly validate?: Validator<V> | StandardSchema | readonly (Validator<V> | StandardSchema)[];
  /** The minimum of a `Number` or a `Date`. */
  readonly min?: Bound<I | number>;
  /** The maximum of a `Number` or a `Date`. */
  readonly max?: Bound<I | number>;
  /**
   * The minimum length of a string, or of each string in an array. To limit the length of the array, use `validate`.
   */
  readonly minLength?: Bound<number>;
  /**
   * The maximum length of a string, or of each string in an array. To limit the length of the array, use `validate`.
   */
  readonly maxLength?: Bound<number>;
  /** The regular expression that a string must match. */
  readonly match?: Bound<RegExp>;
  /** Whether whitespace around a string is removed. */
  readonly trim?: boolean;
  /** Whether a string is converted to lower case. */
  readonly lowercase?: boolean;
  /** Whether a string is converted to upper case. */
  readonly uppercase?: boolean;
  /** A function that converts the value when it is read from a document. */
  readonly get?: (value: V) => unknown;
  /** A function that converts the value when it is set. */
  readonly set?: (value: V) => unknown;
  /** A function that converts the value for JSON. */
  readonly transform?: (value: V) => unknown;
}

/**
 * A schema of a validation library that implements [Standard Schema](https://standardschema.dev), such as Zod, Valibot or
 * ArkType.
 */
export interface StandardSchema {
  /** The property that the specification defines. */
  readonly "~standard": {
    /** The version of the specification. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** Validates a value, synchronously or asynchronously. */
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    /** The types of valid values, which exist in TypeScript only. */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/** @internal The result of a validation. A value is not valid if its result has `issues`. */
export interface StandardResult {
  readonly value?: unknown;
  readonly issues?: readonly StandardIssue[] | undefined;
}

/** @internal A problem of a value, or of a part of it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** @internal The JSON form of a scalar value. */
export type JsonScalar<V> = V extends boolean ? V
  : V extends bigint ? string | number
  : V extends string | number ? Literals<V>
  : string;

/** @internal The values of a TypeScript enum as literals, or the type itself. */
export type Literals<V> = V extends string ? string extends V ? string : `${V}`
  : V extends number
    ? number extends V ? number : `${V}` extends `${infer N extends number}` ? N : number
  : V;

/**
 * @internal The JSON form of a value of a field, for the option `example`. The fields of embedded models are not
 * checked.
 */
export type JsonForm<V> = unknown extends V ? unknown
  : V extends Scalar ? JsonScalar<V>
  : V extends Map<string, infer I> ? { readonly [key: string]: JsonForm<I> }
  : V extends readonly (infer I)[] ? readonly JsonForm<I>[]
  : V extends FrameworkModel ? { readonly [key: string]: unknown }
  : V extends object ? object
  : V;
