import type { HydratedDocument, Model, Schema, SchemaOptions, Types } from "mongoose";

/**
 * The base class of all models.
 *
 * Declare fields with {@linkcode prop} and {@linkcode arrayProp}. Mongoose documents have the methods, getters and
 * setters of the class, and the Mongoose model has its static members. Other models can embed, reference or extend the
 * class. To serve it over HTTP, add {@linkcode rest}.
 */
export abstract class FrameworkModel {
  /** Schema options of Mongoose, for a class without `@rest`. */
  declare static schemaOptions?: SchemaOptions;
  /** A function that is called once with the Mongoose schema of the class, to add indexes, plugins, virtuals or middleware. */
  static configure?(schema: Schema): void;
  /** The identifier. A new entity gets one. */
  declare readonly _id: Types.ObjectId;
  /** The version: 0 for a new entity. Every update adds 1. */
  declare readonly __v: number;
}

/** A class that extends {@linkcode FrameworkModel}. */
export type ModelClass<M extends FrameworkModel = FrameworkModel> = abstract new () => M;

/** The Mongoose document of a model, which hooks get. */
export type Entity<M extends FrameworkModel> = HydratedDocument<M>;

/** The Mongoose model of a class, with the static members of the class. */
export type ModelOf<C extends ModelClass> =
  & Model<InstanceType<C>>
  & Omit<C, "prototype" | "configure" | "schemaOptions" | keyof Model<InstanceType<C>>>;
