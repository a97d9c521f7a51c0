import { isDocument } from "../../schema/mongoose/bson.ts";
import { imageOf, isUntouched } from "../../schema/mongoose/documents/work_on_document.ts";
import type { DocumentImage } from "../../schema/mongoose/documents/work_on_document.ts";
import type { Source } from "../../sources/source.ts";
import type { Call } from "../request/call.ts";

/** How many entities are read again at a time. */
const AT_ONCE = 100;

/** An entity that is going to be removed, or only its identifier. */
export type Held = { readonly entity: object } | { readonly id: unknown };

/** An entity as its hooks got it. */
interface Image {
  readonly of: object;
  readonly document: DocumentImage;
}

/**
 * What `persist` hooks are going to remove, between the last hook that may refuse and the first removal. Of an entity
 * that no hook has worked on, the identifier is enough: it is read again when its turn comes.
 */
export class Doomed {
  readonly #source: Source;
  readonly #readsAgain: boolean;

  /**
   * @param call The call; what its own `fetch` hook gave cannot be read again.
   * @param source The source of the entities.
   */
  constructor(call: Call, source: Source) {
    this.#source = source;
    this.#readsAgain = source.listAgain !== undefined &&
      call.acting.level.hooks.fetch === undefined;
  }

  /** Takes the image of an entity before its hooks run. */
  imageOf(entity: object): Image | undefined {
    if (!this.#readsAgain || !isDocument(entity) || !isName(entity._id)) return undefined;
    return { of: entity, document: imageOf(entity) };
  }

  /** Holds what the hooks gave: whole, if they have worked on it. */
  hold(ready: object, image: Image | undefined): Held {
    const same = image !== undefined && image.of === ready && isDocument(ready) &&
      isUntouched(ready, image.document);
    return same ? { id: this.#source.identify(ready) } : { entity: ready };
  }

  /** Gives the entities that are held, in order, without those that nobody could read again. */
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

/** Whether an identifier is told from others by its text. */
function isName(id: unknown): boolean {
  return typeof id === "string" || typeof id === "number" ||
    (typeof id === "object" && id !== null && "_bsontype" in id && id._bsontype === "ObjectId");
}
