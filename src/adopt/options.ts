import type { Document, Types } from "mongoose";
import type { PartRestOptions } from "../declare/decorators/rest.ts";
import type { DefineOptions } from "../declare/define_input.ts";
import type { FrameworkModel, ModelClass } from "../declare/model/framework_model.ts";
import type { UnnamedModel } from "../declare/operations/hooks_input.ts";

/** Options of {@linkcode adopt}. `X` is the type of the Mongoose model. */
export interface AdoptOptions<X extends AdoptedModel = AdoptedModel> {
  /**
   * The paths and virtuals that clients see, or `"all"` paths. A path includes all paths below it. Paths with
   * `select: false`, and paths that the JSON of the model lacks, must be listed one by one.
   */
  readonly shown: ShownNames<X>;
  /** Virtuals that answers show as the JSON of the model does. Clients cannot filter or sort by them. */
  readonly virtuals?: readonly string[];
  /** The paths that clients may set, or `"all"`, by the rules of `shown`. All other paths are read-only. */
  readonly writable: WritableNames<X>;
  /** The options of `rest` in `define()`, or a list of them, without `schemaOptions` and `getConnection`. */
  readonly rest: NonNullable<DefineOptions<InstanceOf<X>>["rest"]>;
  /** Routes of embedded objects, by the name of the path that holds them. */
  readonly parts?: { readonly [K in PartName<X>]?: AdoptPart | readonly AdoptPart[] };
}

/** @internal */
export type AdoptPart = PartRestOptions;

/** @internal The members of a Mongoose model that {@linkcode adopt} reads. */
export interface AdoptedModel {
  readonly modelName: string;
  readonly schema: object;
  readonly db: object;
}

/** @internal */
export type ShownNames<X> = "all" | readonly (PathOf<RawOf<X>> | VirtualOf<X>)[];

/** @internal */
export type WritableNames<X> = "all" | readonly PathOf<RawOf<X>>[];

/** The class that {@linkcode adopt} returns. */
export type Adopted<X> = ModelClass<InstanceOf<X>>;

/**
 * @internal The types of the stored values, methods and virtuals of a model. `Model<infer T>` would not match a model
 * with statics.
 */
export type TypesOf<X> = X extends
  { castObject(stored: object): infer T; new (...args: never[]): infer H }
  ? { readonly raw: T; readonly members: Omit<H, keyof Document | keyof T> }
  : { readonly raw: unknown; readonly members: unknown };

/** @internal */
export type RawOf<X> = TypesOf<X>["raw"];

/** @internal */
export type InstanceOf<X> = IsUnknown<RawOf<X>> extends true ? UnnamedModel
  :
    & FrameworkModel
    & Omit<RawOf<X>, keyof FrameworkModel>
    & Omit<TypesOf<X>["members"], keyof FrameworkModel>;

/** @internal */
export type VirtualOf<X> = VirtualIn<TypesOf<X>["members"]>;

type VirtualIn<T> = {
  [K in keyof T & string]: T[K] extends (...args: never) => unknown ? never : K;
}[keyof T & string];

/** @internal */
export type PartName<X> = RawOf<X> extends infer T
  ? IsUnknown<T> extends true ? string : keyof T & string
  : never;

type IsUnknown<T> = unknown extends T ? true : false;

/** @internal The paths of the type of a document, at most four names long. */
export type PathOf<T, D extends readonly 0[] = []> = IsUnknown<T> extends true ? string
  : D["length"] extends 4 ? never
  : { [K in keyof T & string]-?: K | `${K}.${Below<NonNullable<T[K]>, D>}` }[keyof T & string];

type Below<V, D extends readonly 0[]> = IsUnknown<V> extends true ? never
  : V extends Leaf ? never
  : V extends Types.DocumentArray<infer I> ? PathOf<I, [...D, 0]>
  : V extends readonly (infer I)[] ? Below<NonNullable<I>, D>
  : V extends object ? PathOf<V, [...D, 0]>
  : never;

/** Types of values whose properties are no paths. */
type Leaf =
  | ((...args: never) => unknown)
  | Date
  | RegExp
  | Uint8Array
  | ReadonlyMap<unknown, unknown>
  | { readonly _bsontype: unknown };
