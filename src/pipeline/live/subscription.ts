import type { Model } from "mongoose";
import { clearTimeout, setTimeout } from "node:timers";
import { ChangeFeed } from "../../database/change_feed.ts";
import type { Changes } from "../../database/change_feed.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isOutage } from "../../errors/refusals.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { countSelected } from "../open_level.ts";
import { idParam, openCall } from "../request/call.ts";
import type { Call, LevelCall } from "../request/call.ts";
import { checkParameters } from "../request/check_request.ts";
import { errorAnswer, knownAnswer } from "../request/error_answer.ts";
import { foreignRequest } from "../request/foreign_request.ts";
import { narrowToReader } from "../request/reader_rights.ts";
import { passPreFetch } from "../run_hooks.ts";
import { LiveList } from "./live_list.ts";
import type { Beginning, Subscriber } from "./live_list.ts";
import { openReading } from "./live_reading.ts";
import type { LiveReading } from "./live_reading.ts";

/** Where events go. */
export interface EventReader {
  /** Sends events; the first ones, and those after a gap, are a whole list. */
  send(pieces: readonly Uint8Array[], isList: boolean): void;
  end(): void;
}

const RETRY_MS = 1000;

/** The subscription of one request to a list, until its client leaves or may no longer read it. */
export class Subscription implements Subscriber {
  readonly #req: FrameworkRequest;
  readonly #route: Call["route"];
  readonly #reader: EventReader;
  #reading: LiveReading | undefined;
  #list: LiveList | undefined;
  #stopAbove: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRenewing = false;
  /** Whether the rights have to be asked once more. */
  #isDue = false;
  #hasGap = false;
  #isEnded = false;

  constructor({ route, req }: Call, reader: EventReader) {
    this.#route = route;
    this.#req = req;
    this.#reader = reader;
  }

  get reading(): LiveReading {
    return this.#reading as LiveReading;
  }

  /**
   * Opens the list of a call, and sends it.
   *
   * @throws {RestError} What a GET of the list would answer; 503 without change streams.
   */
  async open(call: Call, place: string | undefined): Promise<void> {
    try {
      await this.#enter(call, { place });
    } catch (error) {
      this.end();
      throw error;
    }
    this.#plan(this.#route.live.renewMS);
  }

  /** Has the whole list sent again: its client was too slow for all events. */
  sendAgain(): void {
    this.#hasGap = true;
    if (!this.#isRenewing) this.#join({ isAgain: true }).catch((error) => this.fail(error));
  }

  tell(pieces: readonly Uint8Array[], isList = false): void {
    if (isList) this.#hasGap = false;
    if (!this.#isEnded) this.#reader.send(pieces, isList);
  }

  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.end();
    void errorAnswer(this.reading.at, error);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    for (const stop of this.#stopAbove) stop();
    this.#list?.leave(this);
    this.#reader.end();
  }

  #plan(afterMS: number): void {
    if (this.#isEnded) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#renew(), afterMS).unref();
  }

  /** Asks for the rights again. A reader who may no longer is not told why: his next request is. */
  async #renew(): Promise<void> {
    this.#isDue = true;
    if (this.#isRenewing || this.#isEnded) return;
    this.#isRenewing = true;
    let afterMS = this.#route.live.renewMS;
    while (this.#isDue && !this.#isEnded) {
      this.#isDue = false;
      const call = openCall(this.#route, { req: foreignRequest(this.#req), count: countSelected });
      try {
        await this.#enter(call);
      } catch (error) {
        const answer = knownAnswer(call.acting, error);
        if (answer !== undefined && isOutage(answer)) afterMS = Math.min(afterMS, RETRY_MS);
        else {
          if (!this.#isEnded) void errorAnswer(call.acting, error);
          this.end();
        }
      }
    }
    this.#isRenewing = false;
    this.#plan(afterMS);
  }

  async #enter(call: Call, beginning?: Beginning): Promise<void> {
    await passPreFetch(call);
    narrowToReader(call.acting);
    if (call.badQuery !== undefined) throw call.badQuery;
    checkParameters(call);
    await this.#listenAbove(call.acting);
    const reading = await openReading(call);
    if (this.#isEnded) return;
    const before = this.#list;
    this.#reading = reading;
    if (before?.isFor(reading)) {
      if (reading.isTimed) before.refresh();
      if (this.#hasGap) await this.#join({ isAgain: true });
      return;
    }
    before?.leave(this);
    this.#list = LiveList.for(reading);
    await this.#join(beginning ?? (this.#hasGap ? { isAgain: true } : { held: before?.held }));
  }

  async #join(beginning: Beginning): Promise<void> {
    await this.#list?.join(this, beginning);
  }

  /** Listens to changes of all that the list is a part of. */
  async #listenAbove({ above }: LevelCall): Promise<void> {
    const stops: (() => void)[] = [];
    for (let at = above; at !== undefined; at = at.above) {
      if (at.level.link?.embedded) continue;
      const model: Model<unknown> = await at.model();
      const name = at.level.parameter === undefined ? undefined : idParam(at).toLowerCase();
      const listener = (changes: Changes) => {
        if (mayName(changes, name)) void this.#renew();
      };
      stops.push(await ChangeFeed.of(model).listen(listener));
    }
    for (const stop of this.#stopAbove) stop();
    this.#stopAbove = stops;
    if (this.#isEnded) { for (const stop of stops) stop(); }
  }
}

/** Whether changes may be those of an entity. */
function mayName(changes: Changes, name: string | undefined): boolean {
  return changes === "anything" || name === undefined ||
    changes.some((id) => !isObjectId(id) || String(id) === name);
}
