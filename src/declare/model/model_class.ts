import type { HydratedDocument, Model } from "mongoose";
import type { FrameworkModel } from "./framework_model.ts";

/**
 * A class that extends {@linkcode FrameworkModel}.
 *
 * @typeParam M The model.
 */
export type ModelClass<M extends FrameworkModel = FrameworkModel> = abstract new () => M;

/**
 * The Mongoose document of a model, which hooks get.
 *
 * @typeParam M The model.
 */
export type Entity<M extends FrameworkModel> = HydratedDocument<M>;

/**
 * The Mongoose model of a class, with the static members of the class.
 *
 * @typeParam C The class.
 */
export type ModelOf<C extends ModelClass> =
  & Model<InstanceType<C>>
  & Omit<C, "prototype" | "configure" | "schemaOptions" | keyof Model<InstanceType<C>>>;
