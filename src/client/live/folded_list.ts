import type { StreamEvent } from "./event_parser.ts";

type Entity = { readonly _id: unknown };

export class FoldedList {
  readonly #revive: (entity: object) => void;
  #entities = new Map<string, Entity>();
  #order: string[] = [];
  /**
   * A second list, filled while the server sends the whole list again. The event `ready` makes it the list, so that no
   * application sees an incomplete one.
   */
  #next: FoldedList | undefined;
  /** Whether the event `ready` of this connection has come, after which the list is complete. */
  #isReady = false;

  /** The resume token for `Last-Event-ID`. If it is empty, the client reads the whole list again. */
  place = "";
  /** Whether the list is complete and has changed since the last call of `takeNews()`. */
  hasNews = false;

  constructor(revive: (entity: object) => void) {
    this.#revive = revive;
  }

  /**
   * An unchanged entity is the same object as in the previous array, so that a view can compare entities by identity.
   */
  takeNews(): object[] {
    this.hasNews = false;
    return this.#order.flatMap((key) => this.#entities.get(key) ?? []);
  }

  reopen(): void {
    this.#restart(this.place === "");
  }

  /** An invalid event clears the resume token, so that the next connection reads the whole list. */
  take({ type, data, place }: StreamEvent): void {
    const earlier = this.place;
    this.place = "";
    const target = this.#next ?? this;
    if (type === "put") target.#put(JSON.parse(data));
    else if (type === "drop") target.#drop(keyOf(JSON.parse(data)._id));
    else if (type === "resync") this.#restart(true);
    else if (type === "ready") {
      this.#entities = target.#entities;
      this.#order = target.#order;
      this.#next = undefined;
      this.#isReady = true;
    }
    this.place = (this.#next === undefined ? place : undefined) ?? earlier;
    this.hasNews ||= this.#isReady && ["put", "drop", "ready"].includes(type);
  }

  #restart(isAnew: boolean): void {
    this.#isReady = false;
    this.hasNews = false;
    this.#next = isAnew ? new FoldedList(this.#revive) : undefined;
  }

  /**
   * `after` is the identifier of the preceding entity, or `null` at the start. Without `after`, an entity keeps its
   * index, and a new entity is added at the end.
   */
  #put({ entity, after }: { readonly entity: Entity; readonly after?: unknown }): void {
    const key = keyOf(entity._id);
    if (after !== undefined || !this.#entities.has(key)) {
      this.#drop(key);
      const index = after === undefined ? this.#order.length : this.#indexBehind(after);
      this.#order.splice(index, 0, key);
    }
    this.#revive(entity);
    this.#entities.set(key, entity);
  }

  #drop(key: string): void {
    if (this.#entities.delete(key)) this.#order.splice(this.#order.indexOf(key), 1);
  }

  #indexBehind(id: unknown): number {
    if (id === null) return 0;
    // While the server sends a whole list, `after` names the entity that was added last, which a search from the end
    // finds at once.
    const index = this.#order.lastIndexOf(keyOf(id));
    if (index < 0) throw new Error(`Cannot follow the list: ${keyOf(id)} is not in it`);
    return index + 1;
  }
}

/** A `Map` would compare identifiers that are objects by identity, so their JSON is the key. */
function keyOf(id: unknown): string {
  return JSON.stringify(id);
}
