import type { Connection, SchemaOptions } from "mongoose";
import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { MaybePromise } from "../hooks/hooks.ts";
import type { Method } from "../operations/methods.ts";

/** A field as its decorator recorded it: nothing is resolved yet. */
export interface FieldRecord {
  /** The property. */
  readonly name: string;
  /** Whether `@arrayProp` declared it. */
  readonly array: boolean;
  /** The options, as they were given. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** An `@rest` as it was recorded, on a class or on a property. */
export interface RestRecord {
  /** The route; a property's route is its own name where it has none. */
  readonly route?: string;
  /** The operations. */
  readonly methods: readonly Method[];
  /** Mongoose's schema options. */
  readonly schemaOptions?: SchemaOptions;
  /** Supplies the connection of a request. */
  readonly getConnection?: (req: FrameworkRequest) => MaybePromise<Connection>;
  /** The trusted filter of every read and write. */
  readonly scope?: (req: FrameworkRequest) => MaybePromise<QueryObject>;
}
