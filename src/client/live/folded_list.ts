import type { StreamEvent } from "./event_parser.ts";

type Entity = { readonly _id: unknown };

/** The entities of a live list in their order, as the client knows them. Each event of the server changes the list. */
export class FoldedList {
  readonly #revive: (entity: object) => void;
  #entities = new Map<string, Entity>();
  #order: string[] = [];
  /**
   * A second live list, which is filled while the server sends the whole list again. The event `ready` of the server
   * puts it in the place of the old list, so that an application never sees an incomplete list.
   */
  #next: FoldedList | undefined;
  /**
   * Whether the server has sent the event `ready` on the present connection, which says that the live list is complete.
   * `live()` yields no list before this event.
   */
  #isReady = false;

  /**
   * The resume token for `Last-Event-ID`, from which the server can continue after a reconnection. The list contains
   * all events up to this token. If the token is empty, the client reads the whole list again.
   */
  place = "";
  /**
   * Whether the live list is complete and has changed since the last call of `takeNews()`, so that `live()` must yield
   * it again.
   */
  hasNews = false;

  constructor(revive: (entity: object) => void) {
    this.#revive = revive;
  }

  /**
   * Returns the entities in a new array. An entity that has not changed is the same object as in the array that the
   * previous call has returned, so that a view can compare entities by identity.
   */
  takeNews(): object[] {
    this.hasNews = false;
    return this.#order.flatMap((key) => this.#entities.get(key) ?? []);
  }

  /**
   * Prepares the live list for a new connection after the previous connection has ended. If the client has no resume
   * token, the server sends the whole list again. The client collects the new list separately, and replaces the old
   * list when the new list is complete.
   */
  reopen(): void {
    this.#restart(this.place === "");
  }

  /**
   * Applies an event of the server to the live list. If the event is invalid, throws and clears the resume token, so
   * that the next connection reads the whole list.
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

  /**
   * Adds or replaces an entity. `after` is the identifier of the entity before it, or `null` at the start of the list.
   * Without `after`, an entity that is in the list keeps its index, and a new entity is added at the end.
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
    // While the server sends a whole list, `after` names the entity that was added last. The search therefore begins at
    // the end of the list, where it finds this entity at once.
    const index = this.#order.lastIndexOf(keyOf(id));
    if (index < 0) throw new Error(`Cannot follow the list: ${keyOf(id)} is not in it`);
    return index + 1;
  }
}

/**
 * Returns the JSON of an identifier, by which the client finds an entity of a live list in a Map. The identifier itself
 * cannot be the key, because it may be an object.
 */
function keyOf(id: unknown): string {
  return JSON.stringify(id);
}
