import mongoose from "mongoose";
import type { Connection, Model } from "mongoose";
import { MAX_TIME_MS, TimeBudget } from "../store/time_budget.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { refusal } from "../errors/refusals.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { everyFilter, type Filter } from "../filter/filters.ts";
import { getModel, untypedModel } from "../schema/get_model.ts";
import { haveSameDatabase } from "../schema/mongoose/connections.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { removalUpdate, stampingUpdate } from "../sources/collection/store_update.ts";
import { type Additions, type StampedClass, stampsFor } from "../sources/additions.ts";
import type { Stamps } from "../store/values.ts";
import type { WriteContext } from "../store/writes/transact.ts";
import { removeWhere, updateWhere } from "../store/writes/where.ts";
import type {
  ClassWriterOptions,
  RemovalFields,
  TransactionRequest,
  TransactionWrite,
} from "./class_feature.ts";
import type { FeatureList } from "./feature_list.ts";

interface WriterOptions {
  readonly model: Model<unknown>;
  readonly classConditions: Filter;
  readonly removal: RemovalFields | undefined;
  readonly additions: Additions | undefined;
  readonly timeBudget: TimeBudget;
  readonly write: TransactionWrite;
}

/** Class options apply to its writes, but hooks do not run. */
export class ClassWriter {
  readonly model: Model<unknown>;
  /** The conditions of class options, with cast values. */
  readonly classConditions: Filter;
  readonly removal: RemovalFields | undefined;
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.model = options.model;
    this.classConditions = options.classConditions;
    this.removal = options.removal;
    this.#options = options;
  }

  stamps(written: StampedClass): Stamps {
    return this.#options.additions?.stamps(written, false) ?? {};
  }

  async remove(ids: readonly unknown[]): Promise<void> {
    const { model, additions } = this.#options;
    const update = removalUpdate(additions, model);
    const filter = everyFilter({ _id: { $in: ids } }, this.classConditions);
    await (update === undefined
      ? removeWhere(this.#writeContext, { filter })
      : updateWhere(this.#writeContext, { filter, update, change: "remove" }));
  }

  /** The values of the filter must be cast already. */
  async update(
    filter: Filter,
    { update, arrayFilters }: { readonly update: Update; readonly arrayFilters?: object[] },
  ): Promise<void> {
    const { model, additions } = this.#options;
    const all = mergeUpdates(
      stampingUpdate(stampsFor(additions, model)?.(false) ?? {}, model),
      update,
    );
    await updateWhere(this.#writeContext, { filter, update: all, arrayFilters }).catch(throwTaken);
  }

  get #writeContext(): WriteContext {
    const { model, additions, write: { session }, timeBudget } = this.#options;
    return {
      model,
      timeBudget,
      addedStatements: additions?.addedStatements,
      around: async (work) => void await work(session),
    };
  }
}

/** The error names no field, because the client may not see the class. */
function throwTaken(cause: unknown): never {
  if (!(cause instanceof mongoose.mongo.MongoServerError) || cause.code !== 11000) throw cause;
  const message = "The request would give another entity a unique value that is taken";
  throw refusal("CONFLICT", { message }, { cause });
}

function mergeUpdates(...updates: readonly Update[]): Update {
  const merged: Record<string, Record<string, unknown>> = {};
  for (const [operator, paths] of updates.flatMap((each) => Object.entries(each))) {
    merged[operator] = { ...merged[operator], ...paths };
  }
  return merged;
}

export async function makeClassWriter(
  write: TransactionWrite,
  { target, operation, reach = "reference", timeBudget }: ClassWriterOptions & {
    readonly timeBudget: TimeBudget;
  },
): Promise<ClassWriter> {
  const { request, model: { db } } = write;
  if (request === undefined) throw new TypeError(`Cannot write "${target.name}" without a request`);
  await checkConnection(request, { write, target });
  const { req, actor, client, route, origin = write } = request;
  const { features } = route;
  const model = untypedModel(target, db as never);
  const conditions: Filter[] = [];
  for (const condition of features.conditionsOf(target, reach)) {
    conditions.push(await condition(req) as Filter);
  }
  return new ClassWriter({
    model,
    classConditions: castFilter(model, everyFilter(...conditions)),
    removal: features.removalFieldsOf(target),
    additions: features.additionsOf(target, {
      req,
      actor,
      client,
      operation,
      route,
      timeBudget,
      origin,
    }),
    timeBudget,
    write,
  });
}

/**
 * Housekeeping has no request, so this writer cannot select by tenant. That is safe, because it only clears references
 * to removed entities.
 */
export function makeWriterWithoutRequest(
  write: TransactionWrite,
  { target, operation, features }: Pick<ClassWriterOptions, "target" | "operation"> & {
    readonly features: Pick<FeatureList, "removalFieldsOf" | "addedStatementsOf">;
  },
): ClassWriter {
  const removal = features.removalFieldsOf(target);
  const addedStatements = features.addedStatementsOf(target, operation);
  return new ClassWriter({
    model: untypedModel(target, write.model.db as never),
    classConditions: removal === undefined ? {} : { [removal.time]: null },
    removal,
    additions: { target, stamps: () => ({}), stamped: () => [], addedStatements },
    timeBudget: new TimeBudget(MAX_TIME_MS),
    write,
  });
}

/** Another class is written by the connection of the first write, so it must be in the same database. */
async function checkConnection(
  { req, route }: TransactionRequest,
  { write: { model, target: written }, target }: {
    readonly write: TransactionWrite;
    readonly target: ModelClass;
  },
): Promise<void> {
  for (const { getConnection } of describeModel(target).rests) {
    if (getConnection === route.getConnection) continue;
    const connection = getConnection === undefined
      ? getModel(target).db
      : await runHook("getConnection", () => getConnection(req));
    if (haveSameDatabase(connection, model.db as Connection)) continue;
    throw new TypeError(
      `Cannot write "${written.name}" and "${target.name}" together: they are in different databases`,
    );
  }
}
