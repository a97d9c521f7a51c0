import { AsyncLocalStorage } from "node:async_hooks";
import { clearTimeout, setTimeout } from "node:timers";
import { ChangeFeed, type Changes } from "../../database/change_feed.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat, isOutage } from "../../errors/refusals.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { countSelected } from "../open_level.ts";
import { type Call, idParam, type LevelContext, openCall, requestView } from "../request/call.ts";
import { errorAnswer, knownAnswer } from "../request/reporter.ts";
import type { Route } from "../request/route.ts";
import { admit } from "../run_pipeline.ts";
import { type Beginning, LiveList, type Subscriber } from "./live_list.ts";
import { type LiveSource, openLiveSource } from "./live_reading.ts";

export interface EventSender {
  /** Sends written events; `isList` where they begin with a whole list. */
  send(pieces: readonly Uint8Array[], isList: boolean): void;
  end(): void;
}

const RETRY_MS = 1000;

/** The subscription of a request to a list, until its client leaves or may no longer read it. */
export class Subscription implements Subscriber {
  readonly #route: Route;
  readonly #req: FrameworkRequest;
  readonly #sender: EventSender;
  /** Runs what changes and timers begin as a part of the request. */
  readonly #run: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
  reading!: LiveSource;
  #list: LiveList | undefined;
  #stopListening: () => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isEntering = false;
  /** Whether rights and parents have to be looked at once more. */
  #isDue = false;
  /** Whether the client has missed events. */
  #hasGap = false;
  #isEnded = false;

  constructor({ route, req }: Call, sender: EventSender) {
    this.#route = route;
    this.#req = req;
    this.#sender = sender;
  }

  /** Opens the list of a call, and sends it: what has changed since the place that an earlier stream has come to. */
  async open(call: Call): Promise<void> {
    const { "last-event-id": place = "" } = call.req.headers;
    this.#isEntering = true;
    try {
      await this.#enter(call, { place: String(place) || undefined });
    } finally {
      this.#isEntering = false;
    }
    this.#plan(this.#isDue ? 0 : this.#route.live.renewMS);
  }

  sendAgain(): void {
    this.#hasGap = true;
    if (this.#isEntering || this.#isEnded) return;
    this.#list?.join(this, { isAgain: true }).catch((error) => {
      void errorAnswer(this.reading.context, error);
      this.end();
    });
  }

  tell(pieces: readonly Uint8Array[], isList = false): void {
    if (isList) this.#hasGap = false;
    if (!this.#isEnded) this.#sender.send(pieces, isList);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#stopListening();
    this.#list?.leave(this);
    this.#sender.end();
  }

  #plan(afterMS: number): void {
    if (this.#isEnded) return;
    clearTimeout(this.#timer);
    // Those who came together do not ask together again.
    const soonerMS = afterMS * (1 - Math.random() / 5);
    this.#timer = setTimeout(() => this.#run(() => void this.#renew()), soonerMS).unref();
  }

  /** Asks for all rights again. A reader who may no longer is told by his next request why. */
  async #renew(): Promise<void> {
    this.#isDue = true;
    if (this.#isEntering) return;
    this.#isEntering = true;
    let afterMS = this.#route.live.renewMS;
    while (this.#isDue && !this.#isEnded) {
      this.#isDue = false;
      const call = openCall(this.#route, { req: requestView(this.#req), count: countSelected });
      try {
        await this.#enter(call, {});
      } catch (error) {
        const answer = knownAnswer(call.context, error);
        if (answer !== undefined && isOutage(answer)) afterMS = Math.min(afterMS, RETRY_MS);
        else {
          if (!this.#isEnded) void errorAnswer(call.context, error);
          this.end();
        }
      }
    }
    this.#isEntering = false;
    if (this.#hasGap) this.sendAgain();
    this.#plan(afterMS);
  }

  async #enter(call: Call, beginning: Beginning): Promise<void> {
    await admit(call);
    if (call.context.params.groups !== undefined) throw badFormat("Groups are not live");
    await this.#listenAbove(call.context);
    const reading = await openLiveSource(call);
    if (this.#isEnded) return;
    const before = this.#list;
    this.reading = reading;
    if (before?.isFor(reading)) {
      if (reading.isTimed) before.refresh();
      return;
    }
    const held = before?.held;
    before?.leave(this);
    this.#list = LiveList.for(reading);
    await this.#list.join(this, { ...beginning, held });
  }

  /** Listens to the changes of all that the list is a part of, before any of it is read. */
  async #listenAbove({ above, timeBudget }: LevelContext): Promise<void> {
    const stops: (() => void)[] = [];
    const stopAll = () => stops.forEach((stop) => stop());
    try {
      for (let context = above; context !== undefined; context = context.above) {
        if (context.level.link?.embedded) continue;
        const name = context.level.parameter === undefined
          ? undefined
          : idParam(context).toLowerCase();
        const listener = (changes: Changes) => {
          const mayConcern = changes === "anything" || name === undefined ||
            changes.some((id) => !isObjectId(id) || String(id) === name);
          if (mayConcern) this.#run(() => void this.#renew());
        };
        stops.push(await ChangeFeed.of(await context.model()).listen(listener, timeBudget));
      }
    } catch (error) {
      stopAll();
      throw error;
    }
    this.#stopListening();
    this.#stopListening = stopAll;
    if (this.#isEnded) stopAll();
  }
}
