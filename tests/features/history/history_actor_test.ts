import { assertEquals } from "@std/assert";
import {
  create,
  FrameworkModel,
  type FrameworkRequest,
  leaveOut,
  one,
  prop,
  type ReadOnly,
  remove,
  rest,
  type Restricted,
  update,
} from "../../../mod.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

const actor = (req: FrameworkRequest) => req.headers["x-user"] as string | undefined;

const ann = { headers: { "x-user": "ann" } };

const notBoss = (req: FrameworkRequest) => req.headers["x-user"] !== "boss";

@rest({
  route: "/signed",
  methods: [
    one({ filter: ["name"], preSend: leaveOut(["by"], ["by"], notBoss) }),
    create(),
    update({ filter: ["name"], preSend: leaveOut(["by"], ["by"], notBoss) }),
  ],
  history: true,
})
class Signed extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ stamp: "updatedBy" })
  readonly by?: ReadOnly<string>;
}

@rest({
  route: "/memos",
  methods: [one(), create(), remove()],
  history: true,
  trash: { see: () => true },
})
class Memo extends FrameworkModel {
  @prop({ stamp: "createdBy", hidden: notBoss })
  readonly author?: Restricted<ReadOnly<string>>;
}

function withoutAuthor(req: FrameworkRequest): boolean {
  if (notBoss(req)) req.framework.projection = { author: 0 };
  return true;
}

@rest({ route: "/letters", methods: [one({ preFetch: withoutAuthor }), create()], history: true })
class Letter extends FrameworkModel {
  @prop({ stamp: "createdBy" })
  readonly author?: ReadOnly<string>;
}

@rest({ route: "/drafts", methods: [one(), create(), update()], history: true })
class Draft extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ stamp: "updatedBy", hidden: notBoss })
  readonly by?: Restricted<ReadOnly<string>>;
}

interface Shown {
  readonly actor?: string;
  readonly via?: string;
  readonly changed: readonly string[];
  readonly before: { readonly deletedBy?: string };
}

test("a history shows no sender to readers from whom a field with a stamp is hidden", async () => {
  const mongo = await sharedReplicaSet();
  const plugins = [{ name: "way", admit: () => ({ via: "web" }) }];
  await using app = await mount([Memo], { mongo, actor, plugins });
  const { _id } = await app.created("/memos", {}, ann);
  await app.delete(`/memos/${_id}`, ann);
  assertEquals((await app.post(`/memos/${_id}/restore`, undefined, ann)).status, 200);
  const read = async (user: string) => {
    const { body } = await app.get<Shown[]>(`/memos/${_id}/history`, {
      headers: { "x-user": user },
    });
    return body.map(({ actor, via, changed, before }) => {
      assertEquals(via, actor && "web");
      return [actor, changed.join(), before.deletedBy];
    });
  };
  const removal = "deletedAt,deletedBy";
  assertEquals(await read("boss"), [
    ["ann", removal, "ann"],
    ["ann", removal, undefined],
    ["ann", "", undefined],
  ]);
  assertEquals(await read("bob"), [
    [undefined, "deletedAt", undefined],
    [undefined, "deletedAt", undefined],
    [undefined, "", undefined],
  ]);
});

test("a history shows no sender if hooks or their projection leave out a field with a stamp", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Signed, Letter], { mongo, actor });
  for (const route of ["/signed", "/letters"]) {
    const { _id } = await app.created(route, {}, ann);
    const actorFor = async (user: string) => {
      const headers = { "x-user": user };
      return (await app.read<Shown[]>(`${route}/${_id}/history`, { headers }))[0]?.actor;
    };
    assertEquals([route, await actorFor("boss"), await actorFor("bob")], [route, "ann", undefined]);
  }
});

test("a history shows no sender if a stamp that the reader cannot see is empty now", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Draft, Signed], { mongo, actor });
  for (const route of ["/drafts", "/signed"]) {
    const { _id } = await app.created(route, {}, ann);
    await app.updated(`${route}/${_id}`, { name: "by nobody" });
    const actorsFor = async (user: string) => {
      const headers = { "x-user": user };
      const { body } = await app.get<Shown[]>(`${route}/${_id}/history`, { headers });
      return body.map(({ actor }) => actor);
    };
    assertEquals([route, await actorsFor("boss")], [route, [undefined, "ann"]]);
    assertEquals([route, await actorsFor("bob")], [route, [undefined, undefined]]);
  }
});
