import { assert, assertEquals, assertRejects } from "@std/assert";
import { all, arrayProp, create, FrameworkModel, getModel, one, prop, remove } from "../../mod.ts";
import { removeAll, rest, update } from "../../mod.ts";
import type { FrameworkRequest, Ref, Restricted } from "../../mod.ts";
import {
  ApiError,
  connect,
  type FetchFunction,
  type Json,
  type Resource,
} from "@mongrove/mongrove/client";
import mongoose from "mongoose";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { longTest, test } from "../harness/testing.ts";
import { mountLive } from "../features/live/live.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";

const isGuest = ({ headers }: FrameworkRequest) => headers.authorization !== "staff";

const banned = new Set<string>();

class Answer extends FrameworkModel {
  @prop()
  text?: string;
}

class Message extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

@rest({
  route: "/tickets",
  methods: [
    all({
      live: true,
      sort: ["rank", "title"],
      page: { size: 3, max: 10 },
      select: ["title", "note"],
      preFetch: ({ headers: { authorization } }) => !banned.has(String(authorization)),
    }),
    one(),
    create(),
    update(),
    remove(),
    removeAll(),
  ],
})
@rest({ route: "/loose", methods: [all({ live: true })] })
class Ticket extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ type: Number })
  rank?: number;

  @prop({ hidden: isGuest })
  note?: Restricted<string>;

  @rest({ methods: [all({ live: true }), one(), create(), remove()] })
  @arrayProp({ items: () => Answer, embedded: true })
  answers?: Answer[];

  @rest({ methods: [all({ live: true }), create(), remove()] })
  @arrayProp({ items: () => Message, readonly: true })
  messages?: Ref<Message>[];
}

async function openTickets() {
  const app = await mountLive([Ticket], {
    limits: { live: { renewMS: 200 } },
  });
  const as = (name: string) => connect(app.url, { headers: () => ({ authorization: name }) });
  const tickets = as("staff").resource<Ticket>("/tickets");
  return { app, as, tickets, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** Gives the lists that come up to one whose entities show these values. */
async function untilShown<T>(
  lists: AsyncGenerator<T[], void, undefined>,
  values: readonly unknown[],
  show: (entity: T) => unknown,
): Promise<void> {
  let shown: unknown[] = [];
  const timer = setTimeout(() => {
    throw new Error(`It shows ${JSON.stringify(shown)} instead of ${JSON.stringify(values)}`);
  }, 20_000);
  while (JSON.stringify(shown) !== JSON.stringify(values)) {
    const { value, done } = await lists.next();
    if (done) throw new Error("It has ended");
    shown = value.map(show);
  }
  clearTimeout(timer);
}

/** A `fetch()` whose connections can be cut, and the places from which requests have continued. */
function cuttable() {
  const places: (string | null)[] = [];
  let controllers: AbortController[] = [];
  const cutFetch: FetchFunction = (url, init) => {
    const controller = new AbortController();
    controllers.push(controller);
    places.push(new Headers(init.headers).get("last-event-id"));
    init.signal?.addEventListener("abort", () => controller.abort());
    return fetch(url, { ...init, signal: controller.signal });
  };
  const cut = () => {
    for (const each of controllers) each.abort();
    controllers = [];
  };
  return { places, cut, fetch: cutFetch };
}

/** Creates, changes and removes tickets, and calls something each time. */
async function writeAtRandom(tickets: Resource<Ticket>, each: (round: number) => void) {
  const random = (below: number) => Math.floor(Math.random() * below);
  const ids: string[] = [];
  for (let round = 0; round < 200; round++) {
    const body = { title: `T${random(30)}`, rank: random(9) };
    const id = ids[random(ids.length)];
    if (id === undefined || random(3) === 0) ids.push((await tickets.create(body))._id);
    else if (random(4) > 0) await tickets.update(id, body);
    else await tickets.remove(ids.splice(ids.indexOf(id), 1)[0] ?? "");
    each(round);
  }
}

const title = ({ title }: { readonly title: string }) => title;
const text = ({ text }: { readonly text?: string }) => text;

test("live() follows q, an order, a page and select", async () => {
  await using served = await openTickets();
  const { tickets, as } = served;
  for (const rank of [5, 4, 3, 2]) await tickets.create({ title: `T${rank}`, rank, note: "n" });
  const page = tickets.live({ sort: ["rank"], select: ["title"], q: { rank: { $gte: 2 } } });
  await untilShown(page, ["T2", "T3", "T4"], title);
  const { items: [first] } = await tickets.all({ sort: ["rank"] });
  assert(first);
  await tickets.update(first._id, { rank: 9 });
  await untilShown(page, ["T3", "T4", "T5"], title);
  await tickets.create({ title: "T1", rank: 1 });
  await tickets.create({ title: "T2.5", rank: 2.5 });
  await untilShown(page, ["T2.5", "T3", "T4"], title);
  await tickets.removeAll({ q: { rank: { $lt: 5 } } });
  await untilShown(page, ["T5", "T2"], title);
  await getModel(Ticket).updateMany({}, { $unset: { rank: 1 } });
  await untilShown(page, [], title);
  await page.return();
  const loose = as("x").resource<Ticket>("/loose").live({ q: { title: { $in: ["T5", "new"] } } });
  await untilShown(loose, ["T5"], title);
  await tickets.create({ title: "new" });
  await untilShown(loose, ["T5", "new"], title);
  await loose.return();
});

test("live() shows fields by role, and ends with the refusal when rights are gone", async () => {
  await using served = await openTickets();
  const { tickets } = served;
  const { _id } = await tickets.create({ title: "A", note: "secret" });
  const asGuest = served.as("guest").resource<Ticket>("/tickets").live();
  const asStaff = tickets.live();
  const note = ({ note, title }: Json<Ticket>) => [title, note];
  await untilShown(asGuest, [["A", undefined]], note);
  await untilShown(asStaff, [["A", "secret"]], note);
  await tickets.update(_id, { note: "more", title: "B" });
  await untilShown(asGuest, [["B", undefined]], note);
  await untilShown(asStaff, [["B", "more"]], note);
  banned.add("guest");
  const error = await assertRejects(() => asGuest.next(), ApiError);
  assertEquals([error.status, error.code], [403, "FORBIDDEN"]);
  banned.clear();
  await asStaff.return();
});

test("live() follows sub-resources, embedded and referred to", async () => {
  await using served = await openTickets();
  const { tickets } = served;
  const { _id } = await tickets.create({ title: "A" });
  const answers = tickets.part("answers", _id);
  const messages = tickets.part("messages", _id);
  const [ofAnswers, ofMessages] = [answers.live(), messages.live()];
  await untilShown(ofAnswers, [], text);
  await untilShown(ofMessages, [], text);
  const answer = await answers.create({ text: "x" });
  const message = await messages.create({ text: "y" });
  await messages.create({ text: "z" });
  await untilShown(ofAnswers, ["x"], text);
  await untilShown(ofMessages, ["y", "z"], text);
  await answers.remove(answer._id);
  await messages.remove(message._id);
  await untilShown(ofAnswers, [], text);
  await untilShown(ofMessages, ["z"], text);
  await tickets.remove(_id);
  for (const lists of [ofAnswers, ofMessages]) {
    const error = await assertRejects(() => Array.fromAsync(lists), ApiError);
    assertEquals(error.code, "NOT_FOUND");
  }
});

test("live() continues where a connection broke", async () => {
  await using served = await openTickets();
  const { tickets } = served;
  await tickets.create({ title: "A" });
  const { places, cut, fetch } = cuttable();
  const loose = connect(served.app.url, { fetch }).resource<Ticket>("/loose");
  const lists = loose.live();
  await untilShown(lists, ["A"], title);
  cut();
  await tickets.create({ title: "B" });
  await untilShown(lists, ["A", "B"], title);
  assert(places[1], places.join());
  await lists.return();
});

test("live() has what all() reads, after random writes and broken connections", async () => {
  await using served = await openTickets();
  const { tickets } = served;
  const { cut, fetch, places } = cuttable();
  const api = connect(served.app.url, { fetch, headers: { authorization: "staff" } });
  const [pages, loose] = [api.resource<Ticket>("/tickets"), api.resource<Ticket>("/loose")];
  const controller = new AbortController();
  const { signal } = controller;
  const reads = [
    { list: pages, options: { sort: ["-rank", "title"], limit: 10 }, isOrdered: true },
    { list: pages, options: { sort: ["title"], limit: 4, skip: 2 }, isOrdered: true },
    { list: loose, options: { q: { rank: { $gte: 3 } } }, isOrdered: false },
  ] as const;
  const seen: Json<Ticket>[][] = [];
  const following = reads.map(async ({ list, options }, index) => {
    for await (const each of list.live({ ...options, signal })) seen[index] = each;
  });
  await writeAtRandom(tickets, (round) => round % 40 === 20 && cut());
  const textOf = (list: Json<Ticket>[] = [], isOrdered: boolean) =>
    JSON.stringify(isOrdered ? list : list.toSorted((a, b) => a._id < b._id ? -1 : 1));
  await until(async () => {
    const same = reads.map(async ({ list, options, isOrdered }, index) =>
      textOf((await list.all(options)).items, isOrdered) === textOf(seen[index], isOrdered)
    );
    return (await Promise.all(same)).every(Boolean);
  });
  controller.abort();
  await Promise.all(following);
  assert(places.some((place) => place !== null), places.join());
});

longTest("live() keeps its connection while another member becomes the primary", async () => {
  await using mongo = await startMongo({ replicaSet: 3 });
  await using app = await mount([Ticket], { mongo: mongo.uri });
  const api = connect(app.url, { retry: 20 });
  const tickets = api.resource<Ticket>("/tickets");
  const { _id } = await tickets.create({ title: "A" });
  const broken: unknown[] = [];
  const lists = api.resource<Ticket>("/loose").live({
    onDisconnect: (error) => broken.push(error),
  });
  await untilShown(lists, ["A"], title);
  const admin = mongoose.connection.getClient().db("admin");
  await admin.command({ replSetStepDown: 20, secondaryCatchUpPeriodSecs: 10 });
  await tickets.update(_id, { title: "B" });
  await untilShown(lists, ["B"], title);
  assertEquals(broken, []);
  await lists.return();
});
