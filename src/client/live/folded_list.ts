import type { StreamEvent } from "./event_parser.ts";

type Entity = { readonly _id: unknown };

/** A list of entities to which the events of a live list are applied. */
export class FoldedList {
  readonly #revive: (entity: object) => void;
  #entities = new Map<string, Entity>();
  #order: string[] = [];
  /** The list that is received after a restart. The event `ready` replaces the present list with it. */
  #next: FoldedList | undefined;
  /** Whether the event `ready` has come on the present connection, after which the list is complete. */
  #isReady = false;

  /**
   * The place for `Last-Event-ID`, from which the server can continue after a reconnection. The list contains all
   * events up to this place. An empty place makes the client read the whole list again.
   */
  place = "";
  /** Whether the list is complete and has changed since the last `takeNews()`. */
  hasNews = false;

  constructor(revive: (entity: object) => void) {
    this.#revive = revive;
  }

  /** Returns the entities in a new array. An entity that has not changed is the same object as in the array before. */
  takeNews(): object[] {
    this.hasNews = false;
    return this.#order.flatMap((key) => this.#entities.get(key) ?? []);
  }

  /** Prepares the list for the events of another connection. Without a `place`, the list is received again. */
  reopen(): void {
    this.#restart(this.place === "");
  }

  /**
   * Applies an event. Throws and clears `place` if the event is invalid, so that the next connection reads the whole
   * list.
   */
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

  /** Without `after`, an entity that is in the list keeps its index, and a new entity is added at the end. */
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
    // While a whole list arrives, `after` is the last entity, which a search from the end finds at once.
    const index = this.#order.lastIndexOf(keyOf(id));
    if (index < 0) throw new Error(`Cannot follow the list: ${keyOf(id)} is not in it`);
    return index + 1;
  }
}

/** Returns the JSON of an identifier as its key in Maps, because an identifier may be an object. */
function keyOf(id: unknown): string {
  return JSON.stringify(id);
}
