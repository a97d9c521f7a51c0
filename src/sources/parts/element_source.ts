import type { Document, Model, Types } from "mongoose";
import { conflict, occupied } from "../../errors/refusals.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, isEmpty } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { isNarrowed } from "../../filter/projection.ts";
import { readOptions } from "../../filter/read_options.ts";
import { readProjected } from "../../filter/read_projected.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { byIdentifier } from "../../schema/fields/system_fields.ts";
import { stampFields } from "../../schema/mongoose/schemas/timestamps.ts";
import { populateFound } from "../../schema/mongoose/statements/fit_found.ts";
import { hydrateKept } from "../../schema/mongoose/statements/find_kept.ts";
import { saveBy } from "../../schema/mongoose/statements/save_by.ts";
import type { StoredObject } from "../../write/apply_update.ts";
import { judgeScope } from "../../write/judge_scope.ts";
import { storedValues } from "../../write/stored_values.ts";
import type { CollectionSourceOptions } from "../collection_source.ts";
import { pageOptions } from "../collection_reads.ts";
import { byStoredId, documentOf, identifierOf } from "../entities.ts";
import { noteEnd } from "../page_end.ts";
import type { Place } from "../place/place.ts";
import { updatePlace } from "../place/update_place.ts";
import type { EntityName, EntityValue, ListRead, PageRead, Source } from "../source.ts";
import { checkRequired } from "./check_required.ts";
import { countElements, readElements, readElementValues } from "./read_elements.ts";
import { markElement, removeElements } from "./remove_elements.ts";
import type { ElementMark } from "./remove_elements.ts";
import { addToList } from "./stored_list.ts";
import { updateElement } from "./update_element.ts";

export interface ElementSourceOptions extends Omit<CollectionSourceOptions, "model"> {
  readonly parent: Place;
  readonly link: PartLink;
  /** The model that makes documents of what is embedded. */
  readonly model: Model<unknown>;
}

/** The source of what a parent embeds: an array of objects, or one object. The database filters it. */
export class ElementSource implements Source {
  readonly #options: ElementSourceOptions;
  readonly #scope: Filter;
  readonly #marks = new WeakMap<object, ElementMark>();
  /** The filter that has selected the element: it binds a write, as the scope does. */
  #selected: Filter = {};

  constructor(options: ElementSourceOptions) {
    this.#options = options;
    this.#scope = castFilter(options.model, options.selection.scope);
  }

  async *list({ forChange, page }: ListRead): AsyncIterable<readonly EntityValue[]> {
    const filter = everyFilter(this.#filter(), page?.behind ?? this.#options.selection.sortable);
    const options = { ...this.#readOptions(), ...page && pageOptions(page), page };
    yield await (forChange ? this.#readWhole(filter, options) : this.#readShown(filter, options));
  }

  async storedValues(name: EntityName, paths: readonly string[]) {
    const { parent, link, maxTimeMS } = this.#options;
    const named = this.#named(name, true);
    const match = named && everyFilter(named, this.#scope);
    return match && await readElementValues(parent, { link, match, paths, options: { maxTimeMS } });
  }

  async count(limit?: number): Promise<number> {
    const { parent, link } = this.#options;
    const { populate: _populate, lean: _lean, ...options } = this.#readOptions(false);
    const match = everyFilter(this.#filter(), this.#scope);
    return await countElements(parent, { link, match, options, limit });
  }

  async byId(name: EntityName, anyway = false): Promise<EntityValue | null> {
    const named = this.#named(name, anyway);
    const [found] = named ? await this.#readShown(named, this.#readOptions(false)) : [];
    return found ?? null;
  }

  async forChange(id: string): Promise<EntityValue | null> {
    const named = this.#named(id);
    return (named && await this.#readWhole(named, this.#readOptions(false)))?.[0] ?? null;
  }

  newEntity(): Promise<EntityValue> {
    return Promise.resolve(new this.#options.model() as EntityValue);
  }

  locate(entity: EntityValue): Promise<Place> {
    const { parent, link: { property, array }, model } = this.#options;
    const id = array ? { id: identifierOf(entity, model) as Types.ObjectId } : {};
    const { updatedAt: stamp } = stampFields(model.schema);
    const step = { property, scope: this.#scope, ...id, ...stamp && { stamp } };
    return Promise.resolve(parent.step(step));
  }

  async save(entity: EntityValue): Promise<EntityValue> {
    const { link, shape, timeBudget, maxTimeMS, selection } = this.#options;
    const doc = documentOf(entity);
    // A projection that parts cannot have is refused before anything is written.
    readProjected(selection.projection, this.#options);
    const work = saveBy(doc, async () => {
      if (doc.isNew) return await this.#insert(doc);
      const place = await this.locate(doc);
      await updateElement(doc, { place, condition: this.#selected, shape });
    });
    await timeBudget.wait(work);
    if (!isNarrowed(selection, shape)) return doc;
    const [shown] = await this.#readShown(link.array ? byStoredId(doc) : {}, { maxTimeMS });
    if (shown === undefined) throw conflict();
    return shown;
  }

  async remove(entity: EntityValue): Promise<void> {
    const { parent, link, timeBudget } = this.#options;
    checkRequired(link);
    if (link.array) return await this.removeMany([this.identify(entity)]);
    const place = await this.locate(documentOf(entity));
    const update = { $unset: { [parent.path(link.property)]: 1 } };
    const options = { condition: this.#selected, removesEntity: true };
    if (!await timeBudget.wait(updatePlace(place, update, options))) throw conflict();
  }

  identify(entity: EntityValue): ElementMark {
    const doc = documentOf(entity);
    return this.#marks.get(doc) ?? markElement(storedValues(doc));
  }

  async removeMany(marks: readonly unknown[]): Promise<void> {
    const { parent, link: { property }, timeBudget } = this.#options;
    const filter = everyFilter(this.#scope, this.#selected);
    const removed = { property, marks: marks as readonly ElementMark[], filter };
    await timeBudget.wait(removeElements(parent, removed));
  }

  async #insert(doc: Document): Promise<void> {
    const { parent, link: { property, array } } = this.#options;
    if (!isEmpty(this.#scope)) await judgeScope(doc, this.#scope);
    const value = storedValues(doc);
    const update = { $set: { [parent.path(property)]: value } };
    const isAdded = array
      ? await addToList(parent, { property, values: [value] })
      : await updatePlace(parent, update, { condition: { [property]: null } });
    if (!isAdded) throw array ? conflict() : occupied();
    doc.isNew = false;
  }

  /** The filter of the element with an identifier; `undefined` where there can be none. */
  #named(name: EntityName, anyway = false): Filter | undefined {
    const { link, model, selection: { added = {} } } = this.#options;
    const id = typeof name === "string" ? byIdentifier(name) : name;
    // The only one needs no name.
    const named = link.array ? id && byStoredId(id) : {};
    return named && everyFilter(named, anyway ? castFilter(model, added) : this.#filter());
  }

  #filter(): Filter {
    return castFilter(this.#options.model, this.#options.selection.filter);
  }

  async #readShown(
    filter: Filter,
    { populate, lean, page, ...options }: Record<string, unknown>,
  ): Promise<EntityValue[]> {
    const { parent, link, model, timeBudget, selection } = this.#options;
    const { stages, hydrate } = readProjected(selection.projection, this.#options);
    const query = { link, match: everyFilter(filter, this.#scope), projected: stages, options };
    const found = await readElements(parent, query);
    for (const each of found) noteEnd(each, page as PageRead | undefined);
    const docs = lean ? found : found.map(hydrate);
    if (populate !== undefined) await timeBudget.wait(populateFound(model, { docs, populate }));
    return docs as EntityValue[];
  }

  /** Reads whole elements, so that they can be changed. */
  async #readWhole(
    filter: Filter,
    { populate: _populate, lean: _lean, page: _page, ...options }: Record<string, unknown>,
  ): Promise<EntityValue[]> {
    this.#selected = this.#filter();
    const { parent, link } = this.#options;
    const query = { link, match: everyFilter(filter, this.#scope), projected: [], options };
    return (await readElements(parent, query)).map((stored) => this.#forChange(stored));
  }

  /** Makes a document of an element as it is stored, and remembers what names the element. */
  #forChange(stored: StoredObject): object {
    const mark = markElement(stored);
    const doc = hydrateKept(this.#options.model as Model<unknown>, stored);
    this.#marks.set(doc, mark);
    return doc;
  }

  #readOptions(page = true): Record<string, unknown> {
    const { selection, maxTimeMS } = this.#options;
    return readOptions(selection, { maxTimeMS, order: {}, page });
  }
}
