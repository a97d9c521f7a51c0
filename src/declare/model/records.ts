import type { Connection, SchemaOptions } from "mongoose";
import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { MaybePromise } from "../hooks/hooks.ts";
import type { Method } from "../operations/methods.ts";

/** A field, as its decorator was called. */
export interface FieldRecord {
  readonly name: string;
  /** Whether `@arrayProp` declared it. */
  readonly array: boolean;
  readonly options: Readonly<Record<string, unknown>>;
}

/** An `@rest` on a class or on a property, as it was called. */
export interface RestRecord {
  /** The route. On a property, the default is its name. */
  readonly route?: string;
  readonly methods: readonly Method[];
  readonly schemaOptions?: SchemaOptions;
  readonly getConnection?: (req: FrameworkRequest) => MaybePromise<Connection>;
  readonly scope?: (req: FrameworkRequest) => MaybePromise<QueryObject>;
  readonly concurrency?: "required" | undefined;
}
