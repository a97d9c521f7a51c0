/** A validator of Mongoose: a function, or one with a message. */
export type Validator<V> =
  | ((value: V) => unknown)
  | {
    readonly validator: (value: V) => unknown;
    readonly message?: string | ((props: { value: V }) => string);
  };

/** A bound, alone or with its message. */
export type Bound<T> = T | readonly [T, string];

/** The options of a field that do not depend on what it holds. */
export interface BaseOptions {
  /** Whether a value must be supplied on creation. @default {false} */
  readonly required?: boolean | string | readonly [boolean, string] | (() => boolean);
  /** A secret: may be written and used by hooks, is in no answer, and no client's filter may touch it. @default {false} */
  readonly hidden?: boolean;
  /** Set by hooks, never by a request body. @default {false} */
  readonly readonly?: boolean;
  /** Whether the value is unique in the collection, by an index. @default {false} */
  readonly unique?: boolean | readonly [boolean, string];
  /** An index on the field. @default {false} */
  readonly index?: boolean | string | object;
  /** Leaves documents without the field out of its index. @default {false} */
  readonly sparse?: boolean;
  /** Whether the value may change after creation. @default {false} */
  readonly immutable?: boolean | (() => boolean);
  /** Whether queries read the field without asking for it by name; if not, no client filters by it. @default {true} */
  readonly select?: boolean;
  /** Another name of the field on documents. */
  readonly alias?: string | string[];
  /** Seconds, or a time as text, after which the database removes the document. */
  readonly expires?: number | string;
}

/**
 * The options of a field that holds a `V`: all of Mongoose's own, and `hidden` and `readonly`.
 *
 * @typeParam V The value of the field.
 * @typeParam I The value that `enum`, the bounds and the text options speak of: the element's, for an array.
 */
export interface FieldOptions<V, I = V> extends BaseOptions {
  /** The value of a field that was not supplied. */
  readonly default?: V | null | (() => V | null | (V extends Date ? number : never));
  /** The values that are allowed: a list, or a TypeScript enum. */
  readonly enum?: readonly (I | null)[] | Readonly<Record<string, string | number>> | {
    readonly values: readonly (I | null)[];
    readonly message?: string;
  };
  /** Validators of your own. */
  readonly validate?: Validator<V> | readonly Validator<V>[];
  /** The least number or date. */
  readonly min?: Bound<I | number>;
  /** The greatest number or date. */
  readonly max?: Bound<I | number>;
  /** The least length of a text. */
  readonly minLength?: Bound<number>;
  /** The greatest length of a text. */
  readonly maxLength?: Bound<number>;
  /** The expression that a text must match. */
  readonly match?: Bound<RegExp>;
  /** Whether white space around a text is cut off. @default {false} */
  readonly trim?: boolean;
  /** Whether a text is stored in lower case. @default {false} */
  readonly lowercase?: boolean;
  /** Whether a text is stored in upper case. @default {false} */
  readonly uppercase?: boolean;
  /** Changes the value when it is read. */
  readonly get?: (value: V) => unknown;
  /** Changes the value when it is set. */
  readonly set?: (value: V) => unknown;
  /** Changes the value in JSON. */
  readonly transform?: (value: V) => unknown;
}
