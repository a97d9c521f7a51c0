import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type ErrorBody, mount } from "../../support/support.ts";
import type { Counts } from "./tasks.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

/** What runs when an element is saved. */
const state: { meanwhile?: (() => Promise<unknown>) | undefined } = {};

const fields = ["state", "tags", "owner"] as const;

async function meanwhile<E extends object>(_req: unknown, entity: E): Promise<E> {
  const { meanwhile } = state;
  state.meanwhile = undefined;
  await meanwhile?.();
  return entity;
}

class Job extends FrameworkModel {
  static override schemaOptions = { timestamps: true };
  @prop({ required: true })
  name!: string;
  @prop({ required: true, enum: ["open", "done"], default: "open" })
  state!: string;
  @arrayProp({ items: String })
  tags?: string[];
  @prop()
  owner?: string;
}

const limits = { max: 3 } as const;

class Squad extends FrameworkModel {
  @rest({ methods: [updateAll<Job>({ fields, ...limits })] })
  @arrayProp({ items: Job, embedded: true })
  parts?: Job[];
}

@rest({ route: "/crews", methods: [one(), update()] })
class Crew extends FrameworkModel {
  @prop()
  name?: string;
  @rest({
    methods: [updateAll<Job>({ fields, ...limits }), removeAll({ ...limits, q: "required" })],
  })
  @arrayProp({ items: Job })
  jobs?: Ref<Job>[];
  @rest({
    methods: [
      updateAll<Job>({ fields, ...limits, preSave: meanwhile }),
      removeAll({ ...limits, q: "required" }),
    ],
  })
  @arrayProp({ items: Job, embedded: true })
  parts?: Job[];
  @rest({
    route: "/mine",
    methods: [updateAll<Job>({ fields })],
    scope: () => ({ owner: { $in: ["me", "you"] } }),
  })
  @arrayProp({ items: Job, embedded: true })
  owned?: Job[];
  @rest({ methods: [one()] })
  @arrayProp({ items: Squad, embedded: true })
  crews?: Squad[];
}

interface Given {
  readonly name: string;
  readonly owner?: string;
  readonly tags?: readonly string[];
}

const id = () => new mongoose.Types.ObjectId();

const asParts = (given: readonly Given[]) =>
  given.map((each) => ({ _id: id(), state: "open", tags: [], ...each }));

/** Stores a crew with these jobs, referred to and embedded, and a job of nobody. */
async function putCrew(given: readonly Given[]) {
  await getModel(Job).collection.deleteMany({});
  const jobs = asParts(given).map((each) => ({ ...each, __v: 0 }));
  await getModel(Job).collection.insertMany([...jobs, { name: "other", state: "open", __v: 0 }]);
  const inner = { _id: id(), parts: asParts(given) };
  const { insertedId } = await getModel(Crew).collection.insertOne({
    jobs: jobs.map(({ _id }) => _id),
    parts: asParts(given),
    owned: asParts(given),
    crews: [inner],
    __v: 0,
  });
  const at = `/crews/${insertedId}`;
  const stored = async () => {
    const crew = await getModel(Crew).collection.findOne({ _id: insertedId });
    return { ...crew, inner: crew?.crews[0].parts } as unknown as Record<string, Job[]> & {
      readonly __v: number;
    };
  };
  return { _id: insertedId, at, nested: `${at}/crews/${inner._id}/parts`, stored };
}

const THREE = [{ name: "a" }, { name: "b" }, { name: "c" }];
const DONE = { state: "done", tags: ["x"] };

const sum = (jobs: readonly Job[] = []) => jobs.map(({ name, state }) => `${name} ${state}`).join();

test("updateAll() of references changes those of the parent only", async () => {
  await using mongo = await openReplicaSet();
  await using app = await mount([Crew], { mongo: mongo.uri });
  const { at } = await putCrew(THREE);
  const send = (filter: object) => app.patch<Counts>(`${at}/jobs${asQuery(filter)}`, DONE);
  assertEquals((await send({ name: { $ne: "b" } })).body, { matched: 2, modified: 2 });
  const jobs = await getModel(Job).find().sort({ name: 1 });
  assertEquals(sum(jobs), "a done,b open,c done,other open");
  assertEquals((await send({ name: "other" })).body, { matched: 0, modified: 0 });
  assertEquals((await app.patch(`${at}/jobs`, DONE)).status, 400);
  assertEquals((await app.patch(`/crews/${id()}/jobs${asQuery({})}`, DONE)).status, 404);
  const four = await putCrew([...THREE, { name: "d" }]);
  const reply = await app.patch<ErrorBody>(`${four.at}/jobs${asQuery({})}`, DONE);
  assertEquals([reply.status, reply.body.code], [409, "CONFLICT"]);
  assertEquals(sum(await getModel(Job).find({ state: "done" })), "");
});

test("updateAll() of what a parent embeds is one change of the parent, also without transactions", async () => {
  await using app = await mount([Crew]);
  const { at, nested, stored } = await putCrew(THREE);
  for (
    const [path, list, version] of [[`${at}/parts`, "parts", 1], [nested, "inner", 2]] as const
  ) {
    const send = (filter: object, body: object) =>
      app.patch<Counts>(`${path}${asQuery(filter)}`, body);
    assertEquals((await send({ name: { $ne: "b" } }, DONE)).body, { matched: 2, modified: 2 });
    const { __v, [list]: jobs } = await stored();
    assertEquals([sum(jobs), __v], ["a done,b open,c done", version]);
    assertEquals(jobs?.map(({ tags }) => tags?.join()), ["x", "", "x"]);
    const stamps = jobs?.map((each) => "updatedAt" in each);
    assertEquals(stamps, [true, false, true]);
    assertEquals((await send({}, { state: "gone" })).status, 400);
    assertEquals((await send({ name: "z" }, DONE)).body, { matched: 0, modified: 0 });
    assertEquals((await stored()).__v, version);
    assertEquals((await app.patch(path, DONE)).status, 400);
  }
  const four = await putCrew([...THREE, { name: "d" }]);
  assertEquals((await app.patch(`${four.at}/parts${asQuery({})}`, DONE)).status, 409);
  assertEquals((await four.stored()).__v, 0);
});

test("updateAll() of what a parent embeds changes all or none, whatever others do meanwhile", async () => {
  await using app = await mount([Crew]);
  const { collection } = getModel(Crew);
  const run = async (other: (crew: Awaited<ReturnType<typeof putCrew>>) => Promise<unknown>) => {
    const crew = await putCrew(THREE);
    state.meanwhile = () => other(crew);
    const { status } = await app.patch(`${crew.at}/parts${asQuery({ state: "open" })}`, DONE);
    return [status, sum((await crew.stored()).parts)];
  };
  const change = (update: object) => ({ _id }: { readonly _id: unknown }) =>
    collection.updateOne({ _id: _id as never }, update);
  // Others change what this change does not depend on: both are there.
  const renamed = await run(change({ $set: { "parts.1.name": "B" } }));
  assertEquals(renamed, [200, "a done,B done,c done"]);
  const added = await run(change({ $push: { parts: { _id: id(), name: "d", state: "open" } } }));
  assertEquals(added, [200, "a done,b done,c done,d open"]);
  // Others remove one, change what the client has selected by, or the array that is replaced.
  const removed = await run(change({ $pull: { parts: { name: "b" } } }));
  assertEquals(removed, [409, "a open,c open"]);
  const left = await run(change({ $set: { "parts.2.state": "done" } }));
  assertEquals(left, [409, "a open,b open,c done"]);
  const tagged = await run(change({ $push: { "parts.0.tags": "y" } }));
  assertEquals(tagged, [409, "a open,b open,c open"]);
  const gone = await run(({ _id }) => collection.deleteOne({ _id }));
  assertEquals(gone, [409, ""]);
});

test("updateAll() of what a parent embeds stays in the scope", async () => {
  await using app = await mount([Crew]);
  const given = [{ name: "a", owner: "me" }, { name: "b", owner: "other" }, {
    name: "c",
    owner: "you",
  }];
  const { at, stored } = await putCrew(given);
  const send = (body: object) => app.patch<Counts>(`${at}/mine${asQuery({})}`, body);
  assertEquals((await send({ state: "done" })).body, { matched: 2, modified: 2 });
  assertEquals(sum((await stored()).owned), "a done,b open,c done");
  assertEquals((await send({ owner: "other" })).status, 403);
  assertEquals((await send({ owner: "me" })).status, 200);
  const owners = (await stored()).owned?.map(({ owner }) => owner);
  assertEquals(owners, ["me", "other", "me"]);
});

test("50 updateAll() of what one parent embeds are all there", async () => {
  await using app = await mount([Crew]);
  const { at, stored } = await putCrew(THREE);
  const replies = await Promise.all(Array.from({ length: 50 }, (_, index) => {
    const q = asQuery({ name: "abc"[index % 3] });
    return app.patch(`${at}/parts${q}`, { owner: `o${index}` });
  }));
  const accepted = replies.filter(({ status }) => status === 200).length;
  assertEquals([...new Set(replies.map(({ status }) => status))], [200]);
  assertEquals((await stored()).__v, accepted);
});

test("removeAll() below a parent obeys its limit", async () => {
  await using mongo = await openReplicaSet();
  await using app = await mount([Crew], { mongo: mongo.uri });
  const { at, stored } = await putCrew([...THREE, { name: "d" }]);
  for (const list of ["jobs", "parts"] as const) {
    const remove = (query: string) => app.delete<ErrorBody>(`${at}/${list}${query}`);
    assertEquals((await remove("")).status, 400);
    const reply = await remove(asQuery({}));
    assertEquals([reply.status, reply.body?.code], [409, "CONFLICT"]);
    assertEquals((await stored())[list]?.length, 4);
    assertEquals((await remove(asQuery({ name: { $ne: "a" } }))).status, 204);
    assertEquals((await stored())[list]?.length, 1);
  }
});

test("updateAll() is not for a list without _id", () => {
  class Bare extends FrameworkModel {
    static override schemaOptions = { _id: false };
    @prop()
    state?: string;
  }
  @rest({ route: "/holders", methods: [one()] })
  class Holder extends FrameworkModel {
    @rest({ methods: [updateAll<Bare>({ fields: ["state"], postFetch: pass })] })
    @arrayProp({ items: Bare, embedded: true })
    bare?: Bare[];
  }
  let message = "";
  try {
    Framework.describe({ models: [Holder] });
  } catch (error) {
    ({ message } = error as Error);
  }
  assertEquals(message.includes('property "bare" holds entities without _id'), true, message);
});
