import { AsyncLocalStorage } from "node:async_hooks";
import { clearTimeout, setTimeout } from "node:timers";
import { ChangeFeed, type Changes } from "../../store/change_feed.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { isOutage } from "../../pipeline/failures.ts";
import { countSelected } from "../../pipeline/open_level.ts";
import {
  type Call,
  idParam,
  type LevelContext,
  makeCall,
  requestView,
} from "../../pipeline/request/request_context.ts";
import { errorAnswer, translatedAnswer } from "../../pipeline/request/reporter.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { admitAgain } from "../../pipeline/run_pipeline.ts";
import { limitsOf } from "./live_limits.ts";
import { type Beginning, LiveList, type Subscriber } from "./live_list.ts";
import { type LiveSource, makeLiveSource } from "./live_reading.ts";

export interface EventSender {
  send(pieces: readonly Uint8Array[], isList: boolean): void;
  end(): void;
}

const RETRY_MS = 1000;

export class Subscription implements Subscriber {
  readonly #route: Route;
  readonly #req: FrameworkRequest;
  readonly #client: object;
  readonly #sender: EventSender;
  readonly #max: number;
  readonly #run: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
  reading!: LiveSource;
  #list: LiveList | undefined;
  #stopListening: () => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isEntering = false;
  /** After `renewMS` or a change of a parent, hooks, rights and scopes must run again. */
  #isDue = false;
  #hasGap = false;
  #isEnded = false;

  constructor({ route, req, client }: Call, { sender, max }: { sender: EventSender; max: number }) {
    this.#max = max;
    this.#route = route;
    this.#req = req;
    this.#client = client;
    this.#sender = sender;
  }

  async open(call: Call): Promise<void> {
    const { "last-event-id": place = "" } = call.req.headers;
    this.#isEntering = true;
    try {
      await this.#enter(call, { place: String(place) || undefined });
    } finally {
      this.#isEntering = false;
    }
    this.#plan(this.#isDue ? 0 : limitsOf(this.#route).renewMS);
  }

  sendAgain(): void {
    this.#hasGap = true;
    if (this.#isEntering || this.#isEnded) return;
    this.#list?.join(this, { isAgain: true }).catch((error) => {
      void errorAnswer(this.reading.context, error);
      this.end();
    });
  }

  send(pieces: readonly Uint8Array[], isList = false): void {
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
    // Clients that connected together must not load the database at once.
    const soonerMS = afterMS * (1 - Math.random() / 5);
    this.#timer = setTimeout(() => this.#run(() => void this.#renew()), soonerMS).unref();
  }

  /** Ends the stream of a reader without rights. The client reconnects, and the answer names the reason. */
  async #renew(): Promise<void> {
    this.#isDue = true;
    if (this.#isEntering) return;
    this.#isEntering = true;
    let afterMS = limitsOf(this.#route).renewMS;
    while (this.#isDue && !this.#isEnded) {
      this.#isDue = false;
      const req = requestView(this.#req);
      const facts = { req, client: this.#client, count: countSelected, weight: 0 };
      let call = makeCall(this.#route, facts);
      try {
        call = await admitAgain(call);
        await this.#enter(call, {});
      } catch (error) {
        if (isOutage(translatedAnswer(call.context, error))) afterMS = Math.min(afterMS, RETRY_MS);
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
    await this.#listenAbove(call.context);
    const reading = await makeLiveSource(call, this.#max);
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

  /** A change of the parent may hide the list from its reader, so rights are checked again. */
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
