import type { ItemBody } from "../../plan/items.ts";
import type { Starred } from "./hook.ts";
import type { PageQuery } from "./page_query.ts";

/** Access to the collections, as people write it by hand; what it gives is sent as JSON. */
export interface Crud {
  /** Reads a collection. */
  list(collection: string): Promise<Starred[]>;
  /** Reads an entity, or gives `null`. */
  one(collection: string, id: string): Promise<Starred | null>;
  /** Inserts an entity, and gives it. */
  create(collection: string, body: ItemBody): Promise<object>;
  /** Changes fields of an entity that passes the hook, if there is one, and gives all of it, or `null`. */
  update(
    collection: string,
    id: string,
    body: Partial<ItemBody>,
    hook?: (item: Starred) => Starred | null,
  ): Promise<Starred | null>;
  /** Reads a page of the ranked entities. */
  first(query: PageQuery): Promise<Starred[]>;
  /** Reads a page of the ranked entities, and counts them. */
  page(query: PageQuery): Promise<Page>;
  /** Reads a page of the ranked entities, each with its writer. */
  populated(query: PageQuery): Promise<readonly object[]>;
}

/** A page of a list. */
export interface Page {
  /** The entities. */
  readonly items: readonly object[];
  /** How many the list has. */
  readonly total: number;
}
