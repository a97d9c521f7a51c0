import type { HydratedDocument, Model } from "mongoose";
import type { FrameworkModel } from "./framework_model.ts";

/**
 * A class that extends {@linkcode FrameworkModel}.
 *
 * @typeParam M The instances' type.
 */
export type ModelClass<M extends FrameworkModel = FrameworkModel> = abstract new () => M;

/**
 * Mongoose's document of a model: what hooks get.
 *
 * @typeParam M The model.
 */
export type Entity<M extends FrameworkModel> = HydratedDocument<M>;

/**
 * Mongoose's model of a class, with the statics of the class.
 *
 * @typeParam C The class.
 */
export type ModelOf<C extends ModelClass> =
  & Model<InstanceType<C>>
  & Omit<C, "prototype" | "configure" | "schemaOptions" | keyof Model<InstanceType<C>>>;
