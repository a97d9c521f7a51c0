import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { FrameworkModel, type FrameworkRequest, getModel, one, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { gate } from "../support/race.ts";
import { asQuery, type EntityBody, mount, NOBODY } from "../support/support.ts";
import { watchCommands } from "../support/both_paths.ts";

/** Holds requests until all that are to meet are here: then they go on in the same turn. */
let meet = gate(1);

/** Does what a request's own headers say. */
async function preFetch(req: FrameworkRequest): Promise<boolean> {
  const { filter, projection, options } = JSON.parse(String(req.headers["x-ask"] ?? "{}"));
  Object.assign(req.framework.filter, filter);
  Object.assign(req.framework.projection, projection);
  Object.assign(req.framework.options, options);
  return await meet(req, true);
}

const scope = (req: FrameworkRequest) =>
  req.headers["x-owner"] === undefined ? {} : { owner: req.headers["x-owner"] };

@rest({ route: "/notes", methods: [one({ preFetch })], scope })
class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop()
  owner?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: Number })
  count?: number;
  @prop({ type: Object })
  free?: object;
}

async function seed(count: number): Promise<string[]> {
  const notes = Array.from({ length: count }, (_, index) => ({
    _id: new mongoose.Types.ObjectId(),
    text: `t${index}`,
    owner: index % 2 ? "ann" : "bob",
    secret: "SECRET",
    count: index,
    __v: 0,
  }));
  await getModel(Note).collection.insertMany(notes as never[]);
  return notes.map(({ _id }) => String(_id));
}

/** Serves notes; gives the list of the commands that are sent. */
async function watched() {
  const app = await mount([Note], { onError: () => {} });
  return Object.assign(app, { sent: await watchCommands(app.database.uri) });
}

type Watched = Awaited<ReturnType<typeof watched>>;

/** One of the requests that meet. */
interface Asked {
  readonly id: string;
  readonly owner?: string;
  readonly ask?: object;
}

/** Asks for notes in one turn; gives the answers, and how many queries they took. */
async function ask({ get, sent }: Watched, asked: readonly Asked[]) {
  // One that is alone, so that the next one takes itself for alone as well.
  meet = gate(1);
  await get(`/notes/${NOBODY}`);
  meet = gate(asked.length);
  sent.length = 0;
  const replies = await Promise.all(
    asked.map(({ id, owner, ask = {} }) =>
      get<EntityBody>(`/notes/${id}`, {
        headers: { "x-ask": JSON.stringify(ask), ...owner !== undefined && { "x-owner": owner } },
      })
    ),
  );
  return { replies, queries: sent.splice(0).filter(({ name }) => name === "find").length };
}

test("one() reads in one query what is asked for in one turn", async () => {
  await using app = await watched();
  const ids = await seed(20);
  const asked = [...ids, ids[3] as string, (ids[4] as string).toUpperCase()].map((id) => ({ id }));
  const { replies, queries } = await ask(app, [...asked, { id: NOBODY }]);
  // The first one takes itself for alone, and does not wait for the others.
  assertEquals(queries, 2);
  assertEquals(replies.map(({ status }) => status), [...asked.map(() => 200), 404]);
  const shown = replies.slice(0, -1).map(({ body }) => [body._id, body.text]);
  assertEquals(
    shown,
    asked.map(({ id }) => [id.toLowerCase(), `t${ids.indexOf(id.toLowerCase())}`]),
  );
  assertEquals(replies.some(({ text }) => text.includes("SECRET")), false);
});

test("one() gathers all, the first one too, where the reads before it came together", async () => {
  await using app = await watched();
  const ids = await seed(10);
  await ask(app, ids.map((id) => ({ id })));
  meet = gate(ids.length);
  const replies = await Promise.all(
    ids.map((id) => app.get<EntityBody>(`/notes/${id}`)),
  );
  assertEquals(replies.map(({ body }) => body._id), ids);
  assertEquals(app.sent.filter(({ name }) => name === "find").length, 1);
});

test("one() takes one more query beyond the most that one reads", async () => {
  await using app = await watched();
  const ids = await seed(71);
  const { replies, queries } = await ask(app, ids.map((id) => ({ id })));
  assertEquals([queries, replies.filter(({ status }) => status === 200).length], [3, 71]);
  assertEquals(replies.map(({ body }) => body._id), ids);
});

test("one() shares no query with a request of another scope", async () => {
  await using app = await watched();
  const ids = await seed(6);
  const asked = ids.flatMap((id) => ["ann", "bob"].map((owner) => ({ id, owner })));
  const { replies, queries } = await ask(app, asked);
  assertEquals(queries, 3);
  const own = (index: number) => index % 2 ? "ann" : "bob";
  assertEquals(
    replies.map(({ status }) => status),
    asked.map(({ id, owner }) => owner === own(ids.indexOf(id)) ? 200 : 404),
  );
});

test("one() shares no query with another filter, projection or option", async () => {
  await using app = await watched();
  const [first = "", second = ""] = await seed(2);
  const asks = [
    {},
    { filter: { count: { $gte: 0 } } },
    { filter: { count: { $gte: 1 } } },
    { projection: { text: 1 } },
    { projection: { text: 0 } },
    { options: { comment: "a" } },
    { filter: { count: { $gte: "0" } } },
  ];
  const asked = asks.flatMap((ask) => [{ id: first, ask }, { id: second, ask }]);
  const { replies, queries } = await ask(app, asked);
  // The last one is cast to what the second one says; the very first goes alone.
  assertEquals(queries, 7);
  const keys = replies.map(({ body }) => body._id === undefined ? [] : Object.keys(body).sort());
  const all = ["__v", "_id", "count", "owner", "text"];
  const most = ["__v", "_id", "count", "owner"];
  assertEquals(keys, [
    ...[all, all],
    ...[all, all],
    ...[[], all],
    ...[["_id", "text"], ["_id", "text"]],
    ...[most, most],
    ...[all, all],
    ...[all, all],
  ]);
});

test("one() shares no query with a filter that says the same in another order of keys", async () => {
  await using app = await watched();
  const [first = "", second = ""] = await seed(2);
  await getModel(Note).collection.updateMany({}, { $set: { free: { x: 1, y: 2 } } as never });
  const [same, other] = [{ free: { x: 1, y: 2 } }, { free: { y: 2, x: 1 } }];
  for (const [one, two] of [[same, other], [other, same]]) {
    const asked = [{ id: first }, { id: first, ask: { filter: one } }, {
      id: second,
      ask: { filter: two },
    }];
    const { replies, queries } = await ask(app, asked);
    assertEquals([queries, ...replies.map(({ status }) => status)], [
      3,
      200,
      ...one === same ? [200, 404] : [404, 200],
    ]);
  }
});

test("one() answers each its own where documents do not show who they are", async () => {
  await using app = await watched();
  const ids = await seed(4);
  const hidden = { projection: { _id: 0, text: 1 } };
  const { replies, queries } = await ask(app, ids.map((id) => ({ id, ask: hidden })));
  assertEquals(queries, 4);
  assertEquals(replies.map(({ body }) => body as unknown), ids.map((_, i) => ({ text: `t${i}` })));
});

test("one() answers an error to those alone whose query has it", async () => {
  await using app = await watched();
  const [first = "", second = ""] = await seed(2);
  const { replies } = await ask(app, [
    { id: first },
    { id: second },
    { id: `${first}${asQuery({ count: { $in: [0] } })}` },
    { id: `${second}${asQuery({ count: { $in: [0] } })}` },
    { id: `${first}${asQuery({ count: "x" })}` },
    { id: first, ask: { options: { hint: "no such index" } } },
  ]);
  assertEquals(replies.map(({ status }) => status), [200, 200, 200, 404, 400, 500]);
});

test("one() leaves its neighbours alone when what is stored cannot be shown", async () => {
  await using app = await watched();
  const ids = await seed(3);
  await getModel(Note).collection.updateOne({ text: "t1" }, { $set: { count: "odd" } as never });
  const { replies, queries } = await ask(app, ids.map((id) => ({ id })));
  assertEquals([queries, replies[0]?.status, replies[2]?.status], [2, 200, 200]);
  const alone = await ask(app, [{ id: ids[1] as string }]);
  assertEquals(replies[1]?.text, alone.replies[0]?.text);
});
