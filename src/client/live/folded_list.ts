import type { StreamEvent } from "./event_parser.ts";

type Entity = { readonly _id: unknown };

/** A list that follows the events of its server. */
export class FoldedList {
  readonly #revive: (entity: object) => void;
  #entities = new Map<string, Entity>();
  #order: string[] = [];
  /** The list that will take the place of this one, as far as it has come. */
  #next: FoldedList | undefined;
  /** Whether this connection has told all of the list. */
  #isReady = false;

  /** Where the server continues after a break, if it can. All events up to there are in the list. */
  place = "";
  /** Whether there is a list that has not been taken. */
  hasNews = false;

  constructor(revive: (entity: object) => void) {
    this.#revive = revive;
  }

  /** Gives the entities in a new array. One that is the same as before is the same object. */
  takeNews(): object[] {
    this.hasNews = false;
    return this.#order.flatMap((key) => this.#entities.get(key) ?? []);
  }

  /** Prepares for the events of another connection. */
  reopen(): void {
    this.#restart(this.place === "");
  }

  /** Takes an event. After one that makes no sense, the list begins anew. */
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

  /** Without `after`, a known entity stays where it is, and a new one comes last. */
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
    // A list that arrives names the last one each time.
    const index = this.#order.lastIndexOf(keyOf(id));
    if (index < 0) throw new Error(`Cannot follow the list: ${keyOf(id)} is not in it`);
    return index + 1;
  }
}

/** Identifiers may be objects. */
function keyOf(id: unknown): string {
  return JSON.stringify(id);
}
