import mongoose from "mongoose";
import type { ClientSession, Document } from "mongoose";
import { inTransaction } from "../../store/in_transaction.ts";
import { isFailure, StoreFailure } from "../../errors/failure.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter, markCompiled, topOf } from "../../filter/filters.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { readIds, readMet } from "../collection/read_documents.ts";
import { CollectionSource, type CollectionSourceOptions } from "../collection/collection_source.ts";
import { byIdentifiers, castIdentifier } from "../entities.ts";
import type { EntityName, Source } from "../source.ts";
import type { Around } from "../../store/writes/transact.ts";
import { removeWhere } from "../../store/writes/where.ts";
import { storedList } from "../../store/values.ts";
import { addToProperty, checkRequired, takeFromProperty } from "./part_writes.ts";
import { type PartPath, stagesTo, turnAt } from "../../store/parts/part_path.ts";

export interface ReferenceSourceOptions extends CollectionSourceOptions {
  readonly parent: PartPath;
  readonly link: PartLink;
  readonly ids: readonly unknown[];
}

interface Unlinked {
  readonly find: (session?: ClientSession) => Promise<readonly unknown[]>;
  readonly areThere: boolean;
}

/**
 * Transactions halve the speed of creations. Without them, a failure could leave an entity to which no parent refers,
 * but never a reference to a missing entity. The parent is written last, so that its lock ends soon, except in a
 * removal with added statements.
 */
export class ReferenceSource extends CollectionSource {
  readonly #options: ReferenceSourceOptions;

  constructor(options: ReferenceSourceOptions) {
    super({ ...options, linked: true });
    this.#options = options;
  }

  get only(): string | undefined {
    const { ids: [id], link } = this.#options;
    return link.array || id === undefined ? undefined : String(id);
  }

  protected override with(changes: Partial<CollectionSourceOptions>): Source {
    return new ReferenceSource({ ...this.#options, ...changes });
  }

  /**
   * Without transactions, a lost request may have stored an entity without its reference, which the repetition adds.
   */
  override async resume(ids: readonly unknown[]): Promise<readonly unknown[]> {
    const { parent, link, ids: linked, timeBudget } = this.#options;
    const stored = await super.resume(ids);
    const names = new Set(linked.map(String));
    for (const value of stored.filter((each) => !names.has(String(each)))) {
      await timeBudget.wait(addToProperty(parent, { link, values: [value] }));
    }
    return stored;
  }

  override async removeMany(
    ids: readonly unknown[],
    unchanged: readonly Filter[] = [],
  ): Promise<number> {
    if (ids.length === 0) return 0;
    checkRequired(this.#options.link);
    if (this.keepsRemoved) return await super.removeMany(ids, unchanged);
    const named = byIdentifiers(ids, unchanged);
    const around = this.#unlinking({
      areThere: false,
      // An entity that no longer matches stays, and so does its reference.
      find: async (session) => await readMet(await this.open(), { named, session }),
    });
    const removal = this.removeNamed(named, { around });
    return await this.#options.timeBudget.wait(removal);
  }

  protected override async removeSelected(most?: number): Promise<number> {
    return await this.removeMany(await readIds(await this.open(), most));
  }

  protected override placed(): Filter {
    const { ids } = this.#options;
    // Matches no entity, because the identifier is new. A sharded cluster refuses `$in: []` in findAndModify.
    if (ids.length === 0) return { _id: markCompiled({ $eq: new mongoose.Types.ObjectId() }) };
    return { _id: ids.length === 1 ? { $eq: ids[0] } : { $in: ids } };
  }

  protected override idFilter(name: EntityName): Filter | undefined {
    return this.#options.link.array ? super.idFilter(name) : {};
  }

  protected override async store(doc: Document): Promise<void> {
    await super.store(doc, doc.isNew ? this.#linking([doc]) : undefined);
  }

  protected override async storeNew(docs: readonly Document[]): Promise<void> {
    await super.storeNew(docs, this.#linking(docs));
  }

  protected override async removeStored(doc: Document): Promise<void> {
    checkRequired(this.#options.link);
    const find = () => Promise.resolve([doc._id]);
    const around = this.keepsRemoved ? undefined : this.#unlinking({ find, areThere: true });
    await super.removeStored(doc, around);
  }

  /** A single reference must be empty or refer to an entity that no longer exists. */
  async #vacancy(): Promise<Filter> {
    const { model, link: { array, property }, ids: [id = null], selection } = this.#options;
    if (array || id === null) return { [property]: null };
    const compiled = await model();
    const existing = castFilter(
      compiled,
      everyFilter({ _id: id }, selection.classConditions ?? {}),
    );
    if (await compiled.collection.findOne(existing, { projection: { _id: 1 } }) !== null) {
      throw new StoreFailure({ kind: "occupied" });
    }
    return { [property]: id };
  }

  /** Class options may look for references to the removed entity, and must not find the one of the parent. */
  get #removesLast(): boolean {
    return this.#options.additions?.addedStatements !== undefined;
  }

  #linking(docs: readonly Document[]): Around {
    return async (insert) => {
      const ids = docs.map(({ _id }) => _id);
      const vacant = await this.#vacancy();
      await this.#inOneTransaction(async (session) => {
        await insert(session);
        await this.#linkTo(ids, { vacant, session });
      }, docs.length > 1);
    };
  }

  /** After an error other than a refusal, the parent may refer to the new entities, so they stay. */
  async #linkTo(
    ids: readonly unknown[],
    { vacant, session }: { readonly vacant: Filter; readonly session: ClientSession | undefined },
  ): Promise<void> {
    const { parent, link } = this.#options;
    let refusal = new StoreFailure({ kind: link.array ? "changed" : "occupied" });
    try {
      const isLinked = await addToProperty(parent, { link, values: ids, vacant, session });
      if (isLinked) return;
    } catch (error) {
      if (!isFailure(error, "outOfScope")) throw error;
      refusal = error as StoreFailure;
    }
    // Without a transaction, the new entities are stored already, and must be removed.
    if (session === undefined) {
      const model = await this.#options.model();
      const filter = castFilter(model, { _id: { $in: ids } });
      await removeWhere({ model, timeBudget: this.#options.timeBudget }, { filter });
    }
    throw refusal;
  }

  /** With `areThere`, the second of two removals of the same entity throws "changed". */
  #unlinking({ find, areThere }: Unlinked): Around {
    return (remove) =>
      this.#inOneTransaction(async (session) => {
        const ids = await find(session);
        if (ids.length === 0) return;
        const { parent, link } = this.#options;
        const unlinking = { link, ids, session, areThere };
        const isLast = session !== undefined && !this.#removesLast;
        if (isLast) await remove(session);
        if (!await takeFromProperty(parent, unlinking)) throw new StoreFailure({ kind: "changed" });
        if (isLast) return;
        try {
          await remove(session);
        } catch (error) {
          if (session === undefined && isFailure(error, "changed")) await this.#relink(ids);
          throw error;
        }
      });
  }

  async #relink(ids: readonly unknown[]): Promise<void> {
    const { parent, link, model } = this.#options;
    for (const _id of ids) {
      if (await (await model()).exists({ _id }) === null) continue;
      await addToProperty(parent, { link, values: [_id] });
    }
  }

  #inOneTransaction(
    writes: (session?: ClientSession) => Promise<void>,
    isRequired = false,
  ): Promise<void> {
    const { parent, part } = this.#options;
    return inTransaction({ ...turnAt(parent), isRequired, part }, writes);
  }
}

interface HeldReferences extends Omit<ReferenceSourceOptions, "ids"> {
  readonly holder: object;
}

export async function makeReferenceSource(
  { holder, ...options }: HeldReferences,
): Promise<ReferenceSource> {
  const stored = await readProperty(holder, options);
  const model = await options.model();
  const ids = (options.link.array ? storedList(stored) : [stored])
    .map((value) => castIdentifier(value, model))
    .filter((id) => id !== undefined && id !== null);
  return new ReferenceSource({ ...options, ids });
}

type PartOptions = Pick<ReferenceSourceOptions, "parent" | "link" | "maxTimeMS">;

/** A hook or Mongoose may have left out the property, which is then read. */
async function readProperty(
  parent: object,
  { parent: place, link: { property }, maxTimeMS }: PartOptions,
): Promise<unknown> {
  if (!isDocument(parent)) {
    if (Object.hasOwn(parent, property)) return (parent as Record<string, unknown>)[property];
  } else if (isRead(parent, property)) {
    return parent.get(property);
  }
  const stages = [...stagesTo(place), { $project: { [property]: 1 } }];
  const work = place.model.collection.aggregate(stages as never, { maxTimeMS }).toArray();
  const [found] = await place.timeBudget.wait(work);
  return found?.[property];
}

/** Mongoose leaves out a whole list if it cannot cast one value, so the list counts as unread. */
function isRead(parent: Document, property: string): boolean {
  return parent.isSelected(property) && !parent.populated(property) &&
    !Object.keys(parent.errors ?? {}).some((path) => topOf(path) === property);
}
