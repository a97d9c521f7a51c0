import type { Document, Model } from "mongoose";
import { isDocument } from "../schema/mongoose/bson.ts";
import type { EntityValue, InsertedEach } from "./source.ts";

interface InsertOptions {
  readonly model: Model<unknown>;
  readonly insert: (docs: readonly Document[]) => Promise<ReadonlyMap<Document, unknown>>;
  readonly save: (entity: EntityValue) => Promise<EntityValue | undefined>;
  readonly readSaved: (docs: readonly Document[]) => Promise<readonly (EntityValue | undefined)[]>;
}

/** Each entity of the one statement succeeds or fails separately. Documents from hooks are saved one by one. */
export async function insertEntities(
  entities: readonly EntityValue[],
  { model, insert, save, readSaved }: InsertOptions,
): Promise<InsertedEach> {
  const places = new Map<Document, number>();
  for (const [place, entity] of entities.entries()) {
    if (isNewOf(entity, model) && !places.has(entity)) places.set(entity, place);
  }
  const refused = await insert([...places.keys()]);
  const errors = new Map([...refused].map(([doc, error]) => [places.get(doc) as number, error]));
  const others = new Map<number, EntityValue | undefined>();
  const inserted = new Set(places.values());
  for (const [place, entity] of entities.entries()) {
    if (inserted.has(place)) continue;
    try {
      others.set(place, await save(entity));
    } catch (error) {
      errors.set(place, error);
    }
  }
  const shown = async () => {
    const saved = [...places].filter(([, place]) => !errors.has(place));
    const all = await readSaved(saved.map(([doc]) => doc));
    const entries = saved.map(([, place], at) => [place, all[at]] as const);
    return new Map([...entries, ...others]);
  };
  return { errors, shown };
}

/** Documents of another model, or in a session of the application, need separate statements. */
function isNewOf(entity: EntityValue, model: Model<unknown>): entity is Document {
  return isDocument(entity) && entity.isNew && entity.constructor === model && !entity.$session();
}
