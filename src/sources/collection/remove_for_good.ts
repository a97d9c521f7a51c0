import type { Model } from "mongoose";
import { MAX_TIME_MS, TimeBudget } from "../../store/time_budget.ts";
import { isFailure } from "../../errors/failure.ts";
import { castFilter, withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import type { AddedStatements } from "../../store/writes/transact.ts";
import { removeWhere } from "../../store/writes/where.ts";

interface RemovalForGoodOptions {
  readonly limit: number;
  readonly addedStatements: AddedStatements | undefined;
}

/**
 * Entities of a portion that is too large for one transaction are removed one by one. A single entity that is too large
 * stays.
 */
export class RemovalForGood {
  readonly tooLarge: unknown[] = [];
  readonly #model: Model<unknown>;
  readonly #options: RemovalForGoodOptions;
  #singles = 0;

  constructor(model: Model<unknown>, options: RemovalForGoodOptions) {
    this.#model = model;
    this.#options = options;
  }

  /** An entity that does not match any more at its removal stays. */
  async remove(filter: Filter): Promise<number> {
    const isSingle = this.#singles > 0;
    const timeBudget = new TimeBudget(MAX_TIME_MS);
    const ids = await this.#find(filter, { limit: isSingle ? 1 : this.#options.limit, timeBudget });
    if (ids.length === 0) return 0;
    if (isSingle) this.#singles--;
    try {
      return await this.#removeAll(filter, { ids, timeBudget });
    } catch (error) {
      if (!isFailure(error, "largeTransaction", "largeEntity")) throw error;
      if (ids.length === 1) {
        this.tooLarge.push(...ids);
        return 0;
      }
      this.#singles = ids.length;
      return await this.remove(filter);
    }
  }

  async #find(filter: Filter, { limit, timeBudget }: FindOptions): Promise<readonly unknown[]> {
    const { maxTimeMS } = timeBudget.statement();
    const options = { limit, lean: true, readPreference: "primary", maxTimeMS } as const;
    const others = this.tooLarge.length === 0 ? {} : { _id: { $nin: this.tooLarge } };
    const query = withConditions(
      this.#model.find({}, { _id: 1 }, options),
      everyFilter(filter, others),
    );
    const found = await timeBudget.wait(query.exec()) as { readonly _id: unknown }[];
    return found.map(({ _id }) => _id);
  }

  async #removeAll(filter: Filter, { ids, timeBudget }: RemovalOptions): Promise<number> {
    const { addedStatements } = this.#options;
    const model = this.#model;
    const named = castFilter(model, everyFilter({ _id: { $in: ids } }, filter));
    return await timeBudget.wait(
      removeWhere({ model, timeBudget, addedStatements }, { filter: named }),
    );
  }
}

interface FindOptions {
  readonly limit: number;
  readonly timeBudget: TimeBudget;
}

interface RemovalOptions extends Pick<FindOptions, "timeBudget"> {
  readonly ids: readonly unknown[];
}
