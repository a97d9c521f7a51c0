import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { Scalar } from "../model/field_names.ts";
import type { FrameworkModel } from "../model/framework_model.ts";

/**
 * @internal A validator of Mongoose, for the option `validate`. The function returns whether a value is valid. The
 * object form also has the message of the error for a value that is not valid.
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
 * the field, so that a forgotten `return` never shows it.
 */
export type FieldRule = (req: FrameworkRequest) => boolean;

/**
 * @internal The value of an option such as `min` or `maxLength`. The value is a limit, or a list of the limit and
 * the error message for values beyond it.
 */
export type Bound<T> = T | readonly [T, string];

/**
 * @internal The options that all fields have, which `@prop` and `@arrayProp` extend. Some are options of Mongoose, such
 * as `min`, and some are options of the framework, such as `hidden`. Any other option is an error at start-up. An
 * option for a plugin is set in `configure`, as in `schema.path("name").options.indexed = true`.
 */
export interface FieldOptions<V, I = V> {
  /**
   * Whether the field must have a value. A function decides this for each document, which the function gets as `this`,
   * as in `required(this: Note) { … }`.
   */
  readonly required?: boolean | string | readonly [boolean, string] | (() => boolean);
  /**
   * Whether the field is a secret. No answer contains the field, and no filter of a client can name it. Hooks can read
   * the field. With `true`, clients can still write the field. With a function, a client from which the function hides
   * the field cannot write it.
   */
  readonly hidden?: boolean | FieldRule;
  /** Whether request bodies cannot set the field. Hooks can set the field. */
  readonly readonly?: boolean | FieldRule;
  /**
   * Whether the parent leaves out this field, because the field has routes that show it. Answers, bodies, filters and
   * orders of the parent then do not have the field, and reads of the parent do not load it. The option is required if
   * all reads of the field's routes are limited by a scope or entity hooks, because this scope and these hooks do not
   * limit reads of the parent. With `false`, the parent shows the whole field.
   */
  readonly apart?: boolean;
  /**
   * Whether a unique index prevents equal values in the collection. A write of a value that another entity has answers
   * 409. In a class with tenants, the index prevents equal values within a tenant. With `{ global: true }`, it
   * prevents equal values across all tenants.
   */
  readonly unique?: boolean | readonly [boolean, string] | { readonly global: true };
  /**
   * Whether the database has an index for the field. A string is the type of the index, such as `"2dsphere"`, and an
   * object has options of MongoDB.
   */
  readonly index?: boolean | string | object;
  /**
   * Whether the index of the field leaves out documents without the field. A unique index that is not sparse allows
   * only one document without the field.
   */
  readonly sparse?: boolean;
  /** Whether the value cannot change after the creation of the entity. */
  readonly immutable?: boolean | (() => boolean);
  /**
   * Whether queries read the field. The default is `true`. With `select: false`, answers show the field only if a
   * projection of a hook names it, and clients cannot filter by the field.
   */
  readonly select?: boolean;
  /** Other names by which code can read and set the field on documents. */
  readonly alias?: string | string[];
  /**
   * The time, after the date in the field, at which the database removes the document, as a number of seconds or a
   * string such as `"1d"`.
   */
  readonly expires?: number | string;
  /**
   * Whether the JSON of a `Date` is a day without a time, such as `"1980-05-04"`, in bodies, answers and filters. The
   * database stores midnight in UTC. A field of the type `DateOnly` is such a day in the types of the client as well.
   */
  readonly dateOnly?: boolean;
  /** A summary of the field for the OpenAPI document, in a few words. */
  readonly summary?: string;
  /** A description of the field for the OpenAPI document, in CommonMark. */
  readonly description?: string;
  /** Whether the OpenAPI document marks the field as deprecated. */
  readonly deprecated?: boolean;
  /**
   * An example of a value in JSON form, in which dates and identifiers are strings. The OpenAPI document shows the
   * example.
   */
  readonly example?: JsonForm<V>;
  /** The value of the field if neither a body nor a hook sets a value. */
  readonly default?: V | null | (() => V | null | (V extends Date ? number : never));
  /** The allowed values, as a list or a TypeScript enum. */
  readonly enum?: readonly (I | null)[] | Readonly<Record<string, string | number>> | {
    readonly values: readonly (I | null)[];
    readonly message?: string;
  };
  /** Validators, or schemas of a validation library. A schema only checks the value and cannot convert it. */
  readonly validate?: Validator<V> | StandardSchema | readonly (Validator<V> | StandardSchema)[];
  /**
   * The smallest `Number` or earliest `Date` of the field, or of each element of an array. A body with a value below it
   * answers 400.
   */
  readonly min?: Bound<I | number>;
  /**
   * The largest `Number` or latest `Date` of the field, or of each element of an array. A body with a value above it
   * answers 400.
   */
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
  /** Whether whitespace at both ends of a string is removed when the field is set, before the string is validated. */
  readonly trim?: boolean;
  /** Whether a string is converted to lowercase when the field is set, before the string is validated. */
  readonly lowercase?: boolean;
  /** Whether a string is converted to uppercase when the field is set, before the string is validated. */
  readonly uppercase?: boolean;
  /**
   * A function that converts the value when code reads the field of a document, such as in a hook. Answers show the
   * stored value, unless the schema has `toJSON: { getters: true }`.
   */
  readonly get?: (value: V) => unknown;
  /**
   * A function that gets each value that a body or a hook sets, and returns the value to validate and store, such as a
   * rounded number.
   */
  readonly set?: (value: V) => unknown;
  /** A function that returns the value that answers show in place of the stored value. */
  readonly transform?: (value: V) => unknown;
}

/**
 * A schema of a validation library that implements [Standard Schema](https://standardschema.dev), such as Zod, Valibot
 * or ArkType. The option `validate` of a field, and the options `body` and `answer` of an action, accept such schemas.
 */
export interface StandardSchema {
  /** The property by which programs use a schema of any validation library, with a function that validates values. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** Returns the converted value, or `issues` if the value is not valid. */
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    /**
     * The type of the values that the schema accepts (`input`), and of the values that it returns (`output`). The types
     * of bodies and answers of an action follow from this property, which has no value at run time.
     */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/**
 * @internal The result of the function `validate` of a {@linkcode StandardSchema}. A value is not valid if the result
 * has `issues`.
 */
export interface StandardResult {
  readonly value?: unknown;
  readonly issues?: readonly StandardIssue[] | undefined;
}

/**
 * @internal A problem that a {@linkcode StandardSchema} has found in a value. `path` leads to the property or element
 * that has the problem.
 */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * @internal The type of a scalar value in JSON, for the option `example`. Dates and identifiers are strings in JSON.
 */
export type JsonScalar<V> = V extends boolean ? V
  : V extends bigint ? string | number
  : V extends string | number ? Literals<V>
  : string;

/**
 * @internal The values of a TypeScript enum as literals, so that an example can be the string or number of an enum
 * member. Any other type is unchanged.
 */
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
