import type { Schema, SchemaOptions, Types } from "mongoose";

/**
 * The base class of every model.
 *
 * Fields are declared with {@linkcode prop} and {@linkcode arrayProp}; methods, getters, setters and statics of the
 * class are there on the documents. A class without `@rest` may be embedded, referenced or inherited from.
 *
 * @example A model
 * ```ts
 * import { FrameworkModel, prop } from "@mongrove/mongrove";
 *
 * export class Address extends FrameworkModel {
 *   @prop({ required: true })
 *   street!: string;
 *   @prop({ type: Number })
 *   number?: number;
 *
 *   get line(): string {
 *     return `${this.street} ${this.number ?? ""}`;
 *   }
 * }
 * ```
 */
export abstract class FrameworkModel {
  /** Schema options of Mongoose, for a class that has no `@rest` to carry them. */
  declare static schemaOptions?: SchemaOptions;
  /** Called once with Mongoose's schema of the class: indexes, plugins, virtuals and middleware. */
  static configure?(schema: Schema): void;
  /** The identifier, assigned on creation. */
  declare readonly _id: Types.ObjectId;
  /** The version, 0 on a new entity and one more with every update. */
  declare readonly __v: number;
}
