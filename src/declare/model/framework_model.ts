import type { HydratedDocument, Model, Schema, SchemaOptions, Types } from "mongoose";
import { markCopy } from "./copies.ts";

/**
 * The base class of all models.
 *
 * Declare fields with {@linkcode prop} and {@linkcode arrayProp} or with {@linkcode define}, and routes with
 * {@linkcode rest}. Mongoose documents have its methods, getters and setters, and the Mongoose model its static
 * members. Other models can embed, reference or extend the class.
 */
export abstract class FrameworkModel {
  /**
   * Schema options of Mongoose, such as `{ timestamps: true }`. The option `schemaOptions` of `@rest` overrides them.
   */
  declare static schemaOptions?: SchemaOptions;
  /** Adds indexes, plugins, virtuals or middleware to the Mongoose schema. The framework calls this function once. */
  static configure?(schema: Schema): void;
  /** The identifier, which names the entity in routes such as `/movies/:id`. The default is a new `ObjectId`. */
  declare readonly _id: Types.ObjectId;
  /** The version, which is 0 for a new entity and grows by 1 with every update. */
  declare readonly __v: number;
}

markCopy(FrameworkModel);

/** A model class, which may be abstract, for options such as `ref`. */
export type ModelClass<M extends FrameworkModel = FrameworkModel> = abstract new () => M;

/** The Mongoose document of a model, which hooks get. */
export type Entity<M extends FrameworkModel> = HydratedDocument<M>;

/**
 * The Mongoose model of a class, with its static members. A static member with a name of Mongoose's models, such as
 * `find`, stays on the class alone.
 */
export type ModelOf<C extends ModelClass> =
  & Model<InstanceType<C>>
  & Omit<C, "prototype" | "configure" | "schemaOptions" | keyof Model<InstanceType<C>>>;
