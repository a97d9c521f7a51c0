import type { ItemBody } from "../../plan/items.ts";
import type { Starred } from "./hook.ts";

/** Access to the collections, as people write it by hand; what it gives is sent as JSON. */
export interface Crud {
  /** Reads a collection. */
  list(collection: string): Promise<Starred[]>;
  /** Reads an entity, or gives `null`. */
  one(collection: string, id: string): Promise<object | null>;
  /** Inserts an entity, and gives it. */
  create(collection: string, body: ItemBody): Promise<object>;
  /** Changes fields of an entity, and gives all of it, or `null`. */
  update(collection: string, id: string, body: Partial<ItemBody>): Promise<object | null>;
}
