import { assertEquals, assertThrows } from "@std/assert";
import {
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  rest,
  type Restricted,
  update,
} from "../../../mod.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { test } from "../../harness/testing.ts";

@rest({ route: "/memos", methods: [one(), create(), update()], history: true })
class Memo extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ stamp: "createdBy", hidden: (req) => req.headers["x-user"] === "guest" })
  readonly author?: Restricted<string>;
}

const actor = (req: FrameworkRequest) => req.headers["x-user"] as string | undefined;
const as = (user?: string) => (user === undefined ? {} : { headers: { "x-user": user } });

type Records = { actor?: string; actorName?: string }[];

const NAMES = new Map([["ann", "Ann Lee"], ["bob", "Bob Ray"]]);

/** Serves memos, and stores what the application is asked. */
async function serveMemos() {
  const asked: unknown[] = [];
  const actorNames = (ids: readonly unknown[]) => {
    asked.push(ids);
    return Promise.resolve(NAMES);
  };
  const app = await mountOnReplicaSet([Memo], { actor, actorNames });
  const { _id } = await app.created("/memos", { text: "a" }, as("ann"));
  for (const user of ["bob", "ann", "eve", undefined]) {
    await app.patch(`/memos/${_id}`, { text: user ?? "nobody" }, as(user));
  }
  const read = (query: string, user = "ann") =>
    app.get<Records>(`/memos/${_id}/history${query}`, as(user));
  return { asked, read, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const NOBODY = [undefined, undefined];
const ANN = ["ann", "Ann Lee"];
const ALL = [NOBODY, ["eve", undefined], ANN, ["bob", "Bob Ray"], ANN];

test("a history names the senders of its writes, by one question for each answer", async () => {
  await using app = await serveMemos();
  const shown = async (query: string, user?: string) => {
    const { body } = await app.read(query, user);
    return body.map(({ actor, actorName }) => [actor, actorName]);
  };
  for (const query of ["?names", "?names=true"]) assertEquals(await shown(query), ALL, query);
  assertEquals(app.asked.splice(0), [["eve", "ann", "bob"], ["eve", "ann", "bob"]]);
  for (const query of ["", "?names=false"]) {
    assertEquals((await shown(query))[2], ["ann", undefined], query);
  }
  assertEquals(await shown("?names", "guest"), ALL.map(() => NOBODY));
  assertEquals(app.asked, []);
  for (const query of ["?names=yes", "?names&names"]) {
    assertEquals((await app.read(query)).status, 400, query);
  }
});

test("a function that gives no Map is a 500, and what is no function fails the start", async () => {
  for (const actorNames of [() => Promise.resolve({}), () => Promise.reject(new Error("secret"))]) {
    const onError = () => undefined;
    const options = { actor, onError, actorNames: actorNames as never };
    await using app = await mountOnReplicaSet([Memo], options);
    const { _id } = await app.created("/memos", { text: "a" }, as("ann"));
    const { status, text } = await app.get(`/memos/${_id}/history?names`);
    assertEquals([status, text.includes("secret")], [500, false]);
  }
  const start = () => Framework.initialize({ models: [Memo], actorNames: {} as never });
  assertThrows(start, TypeError, '"actorNames" is not a function');
});
