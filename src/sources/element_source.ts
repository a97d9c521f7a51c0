import mongoose from "mongoose";
import type { Document, Model, Types } from "mongoose";
import type { Patience } from "../database/patience.ts";
import { badData } from "../errors/bad_data.ts";
import { fitUpdate, isPathRefused, moveUpdate } from "./parts/fit_update.ts";
import { conflict } from "../errors/refusals.ts";
import type { Filter } from "../filter/q/compile_filter.ts";
import { changesOf, saveBy, stampFields } from "../schema/mongoose/internals.ts";
import { keepValues, keptValues } from "../schema/mongoose/statements/find_kept.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { judgeScope } from "../write/judge_scope.ts";
import type { StoredObject } from "../write/apply_update.ts";
import { takeFreshObjects } from "../write/save/fresh_objects.ts";
import { mergeFresh } from "../write/save/merge_fresh.ts";
import { isUnchanged, valueAt } from "../write/save/pin.ts";
import { storedValues } from "../write/stored_values.ts";
import { touchedArrays } from "../write/save/touched_arrays.ts";
import { projectionOf } from "../filter/projection/projection_of.ts";
import { pageStages } from "./parts/element_stages.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { everyFilter, isEmpty } from "../filter/filters.ts";
import type { Place } from "./parts/place.ts";
import { intoStages } from "./parts/place_steps.ts";
import { markElement, removeElements } from "./parts/remove_elements.ts";
import type { ElementMark } from "./parts/remove_elements.ts";
import {
  documentOf,
  IDENTIFIER,
  identifierOf,
  readOptions,
  withoutPage,
} from "../filter/read_options.ts";
import type { EntityValue, Source } from "./source.ts";
import type { Selection } from "../filter/selection.ts";
import { addToList } from "./parts/stored_list.ts";

/** What an {@linkcode ElementSource} is made of. */
export interface ElementSourceOptions {
  /** Where the parent is stored. */
  readonly parent: Place;
  /** The property of the parent. */
  readonly property: string;
  /** Whether the property is an array. */
  readonly array: boolean;
  /** Whether the parent must have it. */
  readonly required: boolean;
  /** The model that makes documents of what is embedded. */
  readonly model: Model<unknown>;
  /** The shape of its schema. */
  readonly shape: Shape;
  /** What to select. */
  readonly selection: Selection;
  /** Bounds the waits. */
  readonly patience: Patience;
  /** The time that the database itself may take. */
  readonly maxTimeMS: number;
}

/** The source of what a parent embeds: an array of objects, or one object. The database filters it. */
export class ElementSource implements Source {
  readonly #options: ElementSourceOptions;
  readonly #scope: Filter;
  readonly #marks = new WeakMap<object, ElementMark>();
  /** What binds a write besides the scope: the filter that has selected what is written. */
  #selected: Filter = {};

  constructor(options: ElementSourceOptions) {
    this.#options = options;
    this.#scope = castFilter(options.model, options.selection.scope);
  }

  async *list(forChange: boolean): AsyncIterable<readonly EntityValue[]> {
    if (forChange) this.#selected = this.#filter();
    yield await this.#read(this.#filter(), { shown: !forChange, options: this.#readOptions() });
  }

  byId(id: string): Promise<EntityValue | null> {
    return this.#find(id, true);
  }

  forChange(id: string): Promise<EntityValue | null> {
    this.#selected = this.#filter();
    return this.#find(id, false);
  }

  fresh(): Promise<EntityValue> {
    return Promise.resolve(new this.#options.model() as EntityValue);
  }

  locate(entity: EntityValue): Promise<Place> {
    const { parent, property, array, model } = this.#options;
    const id = array ? { id: identifierOf(entity, model) as Types.ObjectId } : {};
    const { updatedAt: stamp } = stampFields(model.schema);
    const step = { property, scope: this.#scope, ...id, ...stamp && { stamp } };
    return Promise.resolve(parent.step(step));
  }

  async save(entity: EntityValue): Promise<EntityValue> {
    const doc = documentOf(entity);
    let isExact = true;
    const work = saveBy(doc, async () => {
      if (doc.isNew) await this.#insert(doc);
      else isExact = await this.#update(doc);
    });
    await this.#options.patience.wait(work);
    if (isExact && !this.#isNarrowed()) return doc;
    const [shown] = await this.#read(this.#naming(String(doc._id)), { shown: true, options: {} });
    if (shown === undefined) throw conflict();
    return shown;
  }

  async remove(entity: EntityValue): Promise<void> {
    const { parent, property, array, required } = this.#options;
    if (array) return await this.removeMany([this.identify(entity)]);
    if (required) {
      throw badData({
        [property]: { message: `Field "${property}" is required`, kind: "required" },
      });
    }
    const place = await this.locate(documentOf(entity));
    const update = { $unset: { [parent.path(property)]: 1 } };
    const condition = this.#selected;
    await this.#options.patience.wait(place.update(update, { condition, leaves: true }));
  }

  identify(entity: EntityValue): ElementMark {
    const doc = documentOf(entity);
    return this.#marks.get(doc) ?? markElement(storedValues(doc));
  }

  async removeMany(marks: readonly unknown[]): Promise<void> {
    const { parent, property, patience } = this.#options;
    const filter = everyFilter(this.#scope, this.#selected);
    await patience.wait(
      removeElements(parent, { property, marks: marks as readonly ElementMark[], filter }),
    );
  }

  async removeSelected(): Promise<void> {
    for await (const doomed of this.list(true)) {
      await this.removeMany(doomed.map((entity) => this.identify(entity)));
    }
  }

  async #insert(doc: Document): Promise<void> {
    const { parent, property, array } = this.#options;
    if (!isEmpty(this.#scope)) await judgeScope(doc, this.#scope);
    const value = storedValues(doc);
    const update = { $set: { [parent.path(property)]: value } };
    const isAdded = array
      ? await addToList(parent, { property, value })
      : await parent.tryUpdate(update, { condition: { [property]: null } });
    if (!isAdded) throw conflict();
    doc.isNew = false;
  }

  /** Writes the changes of an element; tells whether its document shows what is stored then. */
  async #update(doc: Document): Promise<boolean> {
    const place = await this.locate(doc);
    const { property, shape } = this.#options;
    const condition = this.#selected;
    const given = takeFreshObjects(doc);
    const changes = changesOf(doc);
    const before = keptValues(doc);
    // A hook may have replaced an object that is there.
    const objects = given.filter(({ path }) => !isJsonObject(valueAt(before, path)));
    let isMerged = false;
    const make = (stored: StoredObject) => {
      const { update } = mergeFresh(changes, { objects, stored });
      const arrays = before === undefined ? [] : touchedArrays(update, shape);
      if (!arrays.every((path) => isUnchanged(path, before, stored))) return undefined;
      isMerged = objects.some(({ path }) => isJsonObject(valueAt(stored, path)));
      return moveUpdate(fitUpdate(update, doc, stored), place);
    };
    try {
      if (objects.length === 0 && touchedArrays(changes, shape).length === 0) {
        await place.update(moveUpdate(changes, place), { condition });
        return true;
      }
    } catch (error) {
      if (!isPathRefused(error)) throw error;
    }
    if (!await place.rewrite(make, { condition, property })) throw conflict();
    return !isMerged;
  }

  async #find(id: string, shown: boolean): Promise<EntityValue | null> {
    if (this.#options.array && !IDENTIFIER.test(id)) return null;
    const named = everyFilter(this.#naming(id), this.#filter());
    const [found] = await this.#read(named, { shown, options: withoutPage(this.#readOptions()) });
    return found ?? null;
  }

  /** The condition that names an element; the only one needs no name. */
  #naming(id: string): Filter {
    return this.#options.array ? { _id: new mongoose.Types.ObjectId(id) } : {};
  }

  #filter(): Filter {
    return castFilter(this.#options.model, this.#options.selection.filter);
  }

  async #read(condition: Filter, { shown, options }: ReadOptions): Promise<EntityValue[]> {
    const { parent, property, array, model, patience, maxTimeMS } = this.#options;
    const { populate, lean, sort, skip, limit, strictQuery: _strict, ...rest } = options;
    const projection = shown ? this.#projection() : {};
    const match = everyFilter(condition, this.#scope);
    const stages = [
      ...parent.stages(),
      ...intoStages(property, array),
      ...isEmpty(match) ? [] : [{ $match: match }],
      ...pageStages({ sort, skip, limit, projection }),
    ];
    const work = parent.model.collection.aggregate(stages as never, { maxTimeMS, ...rest });
    const found = await patience.wait(work.toArray());
    const docs = shown && lean
      ? found
      : found.map((raw) => shown ? model.hydrate(raw, projection) : this.#forChange(raw));
    if (shown && populate !== undefined) {
      await patience.wait(model.populate(docs, populate as never));
    }
    return docs as EntityValue[];
  }

  /** Makes a document of an element as it is stored, and remembers what names the element. */
  #forChange(stored: StoredObject): object {
    const mark = markElement(stored);
    const doc = this.#options.model.hydrate(stored) as Document;
    keepValues(doc, stored);
    this.#marks.set(doc, mark);
    return doc;
  }

  #readOptions(): Record<string, unknown> {
    return readOptions(this.#options.selection, this.#options.maxTimeMS, {});
  }

  #projection(): Record<string, unknown> {
    const { selection, shape } = this.#options;
    return projectionOf(selection.projection, shape);
  }

  #isNarrowed(): boolean {
    return Object.keys(this.#projection()).length > 0;
  }
}

/** How elements are read. */
interface ReadOptions {
  /** Whether as a read shows them, or whole, so that they can be changed. */
  readonly shown: boolean;
  /** The options of the query. */
  readonly options: Record<string, unknown>;
}
