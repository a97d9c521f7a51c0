import type { Buffer } from "node:buffer";
import type { Types } from "mongoose";
import type { FrameworkModel } from "../model/framework_model.ts";

/**
 * What a value of a field is in JSON. The fields of embedded models are not checked.
 *
 * @typeParam V The value.
 */
export type JsonForm<V> = unknown extends V ? unknown
  : V extends bigint ? string | number
  : V extends string ? (string extends V ? string : `${V}`)
  : V extends number
    ? (number extends V ? number : `${V}` extends `${infer N extends number}` ? N : number)
  : V extends boolean ? V
  : V extends Date | Buffer | Types.ObjectId | Types.Decimal128 | Types.UUID ? string
  : V extends Map<string, infer I> ? { readonly [key: string]: JsonForm<I> }
  : V extends readonly (infer I)[] ? readonly JsonForm<I>[]
  : V extends FrameworkModel ? { readonly [key: string]: unknown }
  : V extends object ? object
  : V;
