import type { Buffer } from "node:buffer";
import type { SchemaType, Types } from "mongoose";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { ModelClass } from "../model/model_class.ts";

/** A type that a field may have: a constructor, a class of Mongoose, a model class, or a thunk of one. */
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

/** Mongoose's own spelling of a type: `Schema.Types.ObjectId` and the like. */
// deno-lint-ignore no-explicit-any -- Mongoose's schema types are generic in ways that do not matter here
export type MongooseType = (abstract new (...args: any) => SchemaType) & {
  readonly schemaName: string;
};

/** The value of an identifier field. */
export type Identifier = Types.ObjectId | string;

/**
 * A field that holds the identifier of another entity.
 *
 * Where a body or a filter is written (`create`, `find`, `set`), its text may stand as well: `note.set("owner", text)`.
 *
 * @typeParam T The model that it refers to.
 *
 * @example A reference
 * ```ts
 * import { FrameworkModel, prop, type Ref } from "@mongrove/mongrove";
 *
 * class User extends FrameworkModel {
 *   @prop({ required: true })
 *   name!: string;
 * }
 *
 * class Note extends FrameworkModel {
 *   @prop({ ref: User })
 *   owner?: Ref<User>;
 * }
 * ```
 */
export type Ref<T extends FrameworkModel> = Types.ObjectId & { readonly "~ref"?: T };

/** The values of fields by Mongoose's name of their type. */
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

/**
 * The value that a field of a type holds.
 *
 * @typeParam T The type, as `type` or `items` names it.
 */
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
 * A decorator for a field whose value is a `V`, or may be missing.
 *
 * @typeParam V The value.
 */
export type FieldDecorator<V> = <This extends FrameworkModel, W extends V | null | undefined>(
  value: undefined,
  context: ClassFieldDecoratorContext<This, W>,
) => void;
