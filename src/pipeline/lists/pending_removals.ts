import { isObjectId } from "../../schema/mongoose/bson.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { imageOf, isUntouched } from "../../schema/mongoose/documents/work_on_document.ts";
import type { Source } from "../../sources/source.ts";
import type { OpenLevel } from "../request/call.ts";

/** How many entities are read again at a time. */
const AT_ONCE = 100;

/** An entity that is going to be removed, or only its identifier. */
export type Held = { readonly entity: object } | { readonly id: unknown };

/**
 * What `persist` hooks are going to remove, between the last hook that may refuse and the first removal. Of an entity
 * that no hook has changed, only the identifier is kept: the entity is read again when its turn comes.
 */
export class PendingRemovals {
  readonly #source: Source;
  readonly #readsAgain: boolean;

  constructor({ source, level }: OpenLevel) {
    this.#source = source;
    // What a `fetch` hook gave cannot be read again.
    this.#readsAgain = source.listAgain !== undefined && level.hooks.fetch === undefined;
  }

  /** Runs the hooks of an entity, and holds what they give, if anything. */
  async hold(
    entity: object,
    run: (entity: object) => Promise<object | undefined>,
  ): Promise<Held | undefined> {
    const isNamed = this.#readsAgain && isDocument(entity) && isTextId(entity._id);
    const image = isNamed ? imageOf(entity) : undefined;
    const ready = await run(entity);
    if (image !== undefined && ready === entity && isDocument(ready) && isUntouched(ready, image)) {
      return { id: this.#source.identify(ready) };
    }
    return ready && { entity: ready };
  }

  /** Gives the entities that are held, in order, without those that are gone. */
  async *entities(held: readonly Held[]): AsyncGenerator<readonly object[]> {
    for (let start = 0; start < held.length; start += AT_ONCE) {
      const some = held.slice(start, start + AT_ONCE);
      const again = await this.#readAgain(some.flatMap((each) => "id" in each ? [each.id] : []));
      yield some.flatMap((each) =>
        "entity" in each ? [each.entity] : again.get(String(each.id)) ?? []
      );
    }
  }

  async #readAgain(ids: readonly unknown[]): Promise<ReadonlyMap<string, object>> {
    const found = ids.length === 0 ? [] : await this.#source.listAgain?.(ids) ?? [];
    return new Map(found.map((entity) => [String(this.#source.identify(entity)), entity]));
  }
}

/** Whether the text of an identifier is unique. */
function isTextId(id: unknown): boolean {
  return typeof id === "string" || typeof id === "number" || isObjectId(id);
}
