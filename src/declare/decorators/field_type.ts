import type { Buffer } from "node:buffer";
import type { SchemaType, Types } from "mongoose";
import type { FrameworkModel, ModelClass } from "../model/framework_model.ts";

/**
 * @internal Prefer `Number`, which the driver stores as an integer or a double. Mongoose's `Int32` and `Double` do not
 * support `min` and `max`, and a `Double` on a document is an object of the driver, which `Number()` must convert
 * before a comparison.
 */
export type FieldType =
  | StringConstructor
  | NumberConstructor
  | BooleanConstructor
  | DateConstructor
  | BigIntConstructor
  | MapConstructor
  | ObjectConstructor
  | typeof Buffer
  | typeof Types.ObjectId
  | typeof Types.Decimal128
  | typeof Types.UUID
  | MongooseType
  | ModelClass
  | (() => ModelClass);

/** @internal */
// deno-lint-ignore no-explicit-any -- the type parameters of Mongoose's schema types do not matter here
export type MongooseType = (abstract new (...args: any) => SchemaType) & {
  readonly schemaName: string;
};

/** @internal */
export type Identifier = Types.ObjectId | string;

/**
 * The type of a field that holds the identifier of an entity of the model `T`. TypeScript refuses an option `ref` with
 * another model. Filters can have the identifier as a string.
 */
export type Ref<T extends FrameworkModel> = Types.ObjectId & { readonly "~ref"?: T };

/**
 * The type of a field with `hidden: true`. TypeScript refuses its name in options such as `sort`, which would reveal
 * its values.
 */
export type Hidden<T> = T extends null | undefined ? T : T & { readonly "~hidden"?: never };

/**
 * The type of a field that a function hides from some clients. In types of the client, the field is optional in
 * answers.
 */
export type Restricted<T> = T extends null | undefined ? T : T & { readonly "~restricted"?: T };

/**
 * The type of a field with `readonly: true`, or of a field that only the server sets. In types of the client, bodies do
 * not have the field.
 */
export type ReadOnly<T> = T extends null | undefined ? T : T & { readonly "~readonly"?: T };

/**
 * The type of a field with the option `default`. In types of the client, the body of `create()` can leave the field
 * out, and answers always have it.
 */
export type Defaulted<T> = T extends null | undefined ? T : T & { readonly "~default"?: T };

/**
 * The type of a field with `dateOnly: true`, which holds a `Date` at midnight in UTC. In types of the client, it is a
 * string such as `"1980-05-04"`.
 */
export type DateOnly = Date & { readonly "~dateOnly"?: never };

/** @internal */
export type MongooseValues = {
  String: string;
  Number: number;
  Int32: number;
  Double: number;
  Boolean: boolean;
  Date: Date;
  BigInt: bigint;
  Buffer: Buffer;
  ObjectId: Identifier;
  Decimal128: Types.Decimal128;
  UUID: Types.UUID;
  Map: Map<string, unknown>;
  Mixed: object;
};

/** @internal */
export type ValueOf<T> = T extends StringConstructor ? string
  : T extends NumberConstructor ? number
  : T extends BooleanConstructor ? boolean
  : T extends DateConstructor ? Date
  : T extends BigIntConstructor ? bigint
  : T extends MapConstructor ? Map<string, unknown>
  : T extends typeof Buffer ? Buffer
  : T extends typeof Types.ObjectId ? Identifier
  : T extends typeof Types.Decimal128 ? Types.Decimal128
  : T extends typeof Types.UUID ? Types.UUID
  : T extends { readonly schemaName: infer N }
    ? N extends keyof MongooseValues ? MongooseValues[N] : unknown
  : T extends ObjectConstructor ? object
  : T extends ModelClass<infer M> ? M
  : T extends () => ModelClass<infer M> ? M
  : never;

/**
 * The decorator that {@linkcode prop} and {@linkcode arrayProp} return, for a field with values of the type `V`, which
 * can also be optional or `null`.
 */
export type FieldDecorator<V> = <This extends FrameworkModel, W extends V | null | undefined>(
  value: undefined,
  context: ClassFieldDecoratorContext<This, W>,
) => void;
