import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { Scalar } from "../model/field_names.ts";
import type { FrameworkModel } from "../model/framework_model.ts";

/** A validator of Mongoose: a function that returns whether a value is valid, alone or with a message. */
export type Validator<V> =
  | ((value: V) => unknown)
  | {
    readonly validator: (value: V) => unknown;
    readonly message?: string | ((props: { value: V }) => string);
  };

/**
 * A function that tells whether a field is hidden, or protected, for a request. It is called once for each request, after
 * the `preFetch` hooks. It is synchronous, and anything but `false` hides or protects the field.
 */
export type FieldRule = (req: FrameworkRequest) => boolean;

/** @internal A limit, alone or with the message for values beyond it. */
export type Bound<T> = T | readonly [T, string];

/**
 * Options of a field: all options of Mongoose, and `hidden` and `readonly`. An option that neither knows fails the start.
 * Options that a plugin reads are set in `configure`: `schema.path("name").options.indexed = true`.
 */
export interface FieldOptions<V, I = V> {
  /** Whether the field must have a value. A function gets the document as `this`: `required(this: Note) { … }`. */
  readonly required?: boolean | string | readonly [boolean, string] | (() => boolean);
  /**
   * Whether the field is a secret. Clients can write it, and hooks can read it. It appears in no answer, and no filter of
   * a client can use it. Where a function hides it from a client, that client cannot write it either.
   */
  readonly hidden?: boolean | FieldRule;
  /** Whether request bodies cannot set the field. Hooks can. */
  readonly readonly?: boolean | FieldRule;
  /**
   * Whether the field, which has routes of its own, is left out of its parent: of answers, bodies, filters and orders, and of
   * what is read of it. A field whose routes have a scope or entity hooks must say so, or say `false`: then the parent
   * shows all of it.
   */
  readonly apart?: boolean;
  /** Whether a unique index prevents equal values in the collection. */
  readonly unique?: boolean | readonly [boolean, string];
  /** Whether the field has an index, or the options of the index. */
  readonly index?: boolean | string | object;
  /** Whether the index of the field leaves out documents without the field. */
  readonly sparse?: boolean;
  /** Whether the value can no longer change after creation. */
  readonly immutable?: boolean | (() => boolean);
  /** Whether queries read the field. They do by default. Clients cannot filter by a field with `select: false`. */
  readonly select?: boolean;
  /** Other names of the field on documents. */
  readonly alias?: string | string[];
  /** How long after the date in the field the database removes the document: seconds, or text such as `"1d"`. */
  readonly expires?: number | string;
  /** A summary of the field, in a few words. */
  readonly summary?: string;
  /** A description of the field, in CommonMark. */
  readonly description?: string;
  /** Whether clients should stop using the field. */
  readonly deprecated?: boolean;
  /** A value of the field in its JSON form: dates and identifiers are texts. The description of an API shows it. */
  readonly example?: JsonForm<V>;
  /** The value of a field that is not given. */
  readonly default?: V | null | (() => V | null | (V extends Date ? number : never));
  /** The allowed values: a list, or a TypeScript enum. */
  readonly enum?: readonly (I | null)[] | Readonly<Record<string, string | number>> | {
    readonly values: readonly (I | null)[];
    readonly message?: string;
  };
  /** Your own validators, or schemas of a validation library. A schema does not change the value. */
  readonly validate?: Validator<V> | StandardSchema | readonly (Validator<V> | StandardSchema)[];
  /** The minimum of a `Number` or a `Date`. */
  readonly min?: Bound<I | number>;
  /** The maximum of a `Number` or a `Date`. */
  readonly max?: Bound<I | number>;
  /** The minimum length of a string; in an array, of each string. For the length of a list, write `validate`. */
  readonly minLength?: Bound<number>;
  /** The maximum length of a string; in an array, of each string. For the length of a list, write `validate`. */
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
    /** The types of valid values. They exist in TypeScript only. */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/** @internal The result of a validation. It has `issues` if the value is not valid. */
export interface StandardResult {
  readonly value?: unknown;
  readonly issues?: readonly StandardIssue[] | undefined;
}

/** @internal A problem of a value, or of a part of it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** @internal What a scalar is in JSON. */
export type JsonScalar<V> = V extends boolean ? V
  : V extends bigint ? string | number
  : V extends string | number ? Literals<V>
  : string;

/** @internal The values of an enum, or the type itself. */
export type Literals<V> = V extends string ? string extends V ? string : `${V}`
  : V extends number
    ? number extends V ? number : `${V}` extends `${infer N extends number}` ? N : number
  : V;

/** @internal What a value of a field is in JSON. The fields of embedded models are not checked. */
export type JsonForm<V> = unknown extends V ? unknown
  : V extends Scalar ? JsonScalar<V>
  : V extends Map<string, infer I> ? { readonly [key: string]: JsonForm<I> }
  : V extends readonly (infer I)[] ? readonly JsonForm<I>[]
  : V extends FrameworkModel ? { readonly [key: string]: unknown }
  : V extends object ? object
  : V;
