import type { Collection, Connection } from "mongoose";
import type { FailedAttempt } from "./_change_queue.ts";
import { isUnavailable } from "../store/failure_of.ts";
import {
  type Change,
  type ChangeEvent,
  changeKey,
  changeKind,
  sizeOf,
  timeOf,
  withoutImages,
  withoutValues,
} from "./change.ts";
import { errorText } from "../errors/error_text.ts";

const COLLECTION = "mongrove_dead_letters";

/** In bytes. A dead letter of at most 16 MB needs room for its other fields too. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024 - 65_536;

/**
 * A change for which all attempts of `handle` have failed. The follower continues, and `replay()` has the change
 * handled again.
 */
export interface DeadLetter {
  /** The `id` of the change, by which `replay()` selects it. */
  readonly id: string;
  /** The operation that has changed the entity. */
  readonly kind: Change["kind"];
  /** The identifier of the changed entity, in its stored type. */
  readonly _id: unknown;
  /** The time of the change, by the clock of the database. */
  readonly at: Date;
  /** The error of the last attempt, with at most 10,000 characters. */
  readonly error: string;
  /** The number of the last failed attempt. */
  readonly attempts: number;
  /** The time of the last failed attempt, also of a replay, by the clock of the database. */
  readonly diedAt: Date;
  /** Whether a later change of the entity has been handled. A replay would come after it. */
  readonly isOvertaken: boolean;
  /** Whether `replay()` has selected the change to be handled again. */
  readonly isDue: boolean;
}

type StoredLetter = Pick<DeadLetter, "error" | "attempts" | "diedAt" | "isOvertaken" | "isDue"> & {
  readonly event: ChangeEvent;
  readonly key: string;
};

export class DeadLetters {
  readonly #letters: Collection;
  readonly #follow: string;
  /**
   * The keys of entities with a dead letter and no later handled change. A change of any other entity needs no
   * statement for dead letters.
   */
  readonly #keys = new Set<string>();

  constructor(connection: Connection, follow: string) {
    this.#letters = connection.collection(COLLECTION);
    this.#follow = follow;
  }

  /** `0` follows `/` in Unicode, so this range contains the identifiers that begin with `follow/`. */
  #where(more: object = {}): object {
    const [begin, end] = [`${this.#follow}/`, `${this.#follow}0`];
    return { _id: { $gt: begin, $lt: end }, follow: this.#follow, ...more };
  }

  #find(more?: object, options?: object): AsyncIterable<StoredLetter> {
    const found = this.#letters.find(this.#where(more), { sort: { _id: 1 }, ...options });
    return found as unknown as AsyncIterable<StoredLetter>;
  }

  /** Other processes may have stored letters before this process got the lease. */
  async load(): Promise<void> {
    this.#keys.clear();
    const options = { projection: { key: 1 } };
    for await (const { key } of this.#find({ isOvertaken: false }, options)) this.#keys.add(key);
  }

  /** A dead letter that is too large for MongoDB omits the documents before and after, and at last the paths too. */
  async bury(
    event: ChangeEvent,
    { attempt: attempts, error: thrown }: FailedAttempt,
  ): Promise<void> {
    const [key, error] = [changeKey(event), errorText(thrown)];
    const write = (kept: ChangeEvent) =>
      this.#letters.updateOne({ _id: this.#idOf(event) } as object, {
        $set: { follow: this.#follow, key, event: kept, error, attempts, isDue: false },
        $setOnInsert: { isOvertaken: false },
        $currentDate: { diedAt: true },
      }, { upsert: true, writeConcern: { w: "majority" } });
    const bare = withoutValues(event);
    const fitting = [event, withoutImages(event)].filter((each) => sizeOf(each) < MAX_EVENT_BYTES);
    for (const kept of [...fitting, bare]) {
      const isStored = await write(kept).then(() => true, (cause) => {
        if (kept === bare || isUnavailable(cause)) throw cause;
      });
      if (isStored) break;
    }
    this.#keys.add(key);
  }

  async find(event: ChangeEvent): Promise<ChangeEvent | undefined> {
    const found = await this.#letters.findOne({ _id: this.#idOf(event) } as object);
    return (found as unknown as StoredLetter | null)?.event;
  }

  #idOf({ _id }: ChangeEvent): string {
    return `${this.#follow}/${_id._data}`;
  }

  async remove(event: ChangeEvent): Promise<void> {
    await this.#letters.deleteOne({ _id: this.#idOf(event) } as object);
  }

  /**
   * Marks dead letters of earlier changes of the entity, because a replay would handle them after this change. Removes
   * a dead letter of this change, which an earlier process may have stored.
   */
  async overtake(event: ChangeEvent): Promise<void> {
    const key = changeKey(event);
    if (!this.#keys.has(key)) return;
    const _id = { $gt: `${this.#follow}/`, $lt: this.#idOf(event) };
    await this.#letters.updateMany(this.#where({ _id, key }), { $set: { isOvertaken: true } });
    await this.remove(event);
    const others = this.#where({ key, isOvertaken: false });
    const left = await this.#letters.countDocuments(others, { limit: 1 });
    if (left === 0) this.#keys.delete(key);
  }

  async mark(ids: readonly string[] | undefined): Promise<number> {
    const _id = { $in: ids?.map((id) => `${this.#follow}/${id}`) };
    const filter = this.#where(ids && { _id });
    return (await this.#letters.updateMany(filter, { $set: { isDue: true } })).matchedCount;
  }

  async *due(): AsyncGenerator<ChangeEvent, void, undefined> {
    for await (const { event } of this.#find({ isDue: true })) yield event;
  }

  /** Documents in dead letters may be large, so they are not read. */
  async list(limit: number): Promise<DeadLetter[]> {
    const projection = { "event.fullDocument": 0, "event.fullDocumentBeforeChange": 0 };
    const listed: DeadLetter[] = [];
    for await (const { event, ...letter } of this.#find({}, { projection, limit })) {
      const { error, attempts, diedAt, isOvertaken, isDue } = letter;
      listed.push({
        id: event._id._data,
        kind: changeKind(event),
        _id: event.documentKey?._id,
        at: timeOf(event),
        error,
        attempts,
        diedAt,
        isOvertaken,
        isDue,
      });
    }
    return listed;
  }
}
