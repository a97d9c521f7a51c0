import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  leaveOut,
  one,
  prop,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { mount } from "../../support/support.ts";

const isLow = ({ headers }: FrameworkRequest) => headers["x-level"] !== "high";

class Rivet extends FrameworkModel {
  @prop()
  text?: string;
}

class Frame extends FrameworkModel {
  @rest({ methods: [all(), create()] })
  @arrayProp({ items: Rivet, embedded: true, hidden: isLow })
  zrivets?: Rivet[];
}

@rest({ route: "/vessels", methods: [one(), create(), update()], history: true })
class Vessel extends FrameworkModel {
  @rest({ methods: [all(), create()] })
  @arrayProp({ items: Rivet, embedded: true, hidden: isLow })
  zparts?: Rivet[];
  @rest({ methods: [one(), create()] })
  @prop({ type: Rivet, hidden: isLow })
  zone?: Rivet;
  @rest({ methods: [one(), create()] })
  @prop({ type: Frame })
  frame?: Frame;
  @rest({ methods: [all(), create()] })
  @arrayProp({ items: Rivet, embedded: true })
  shown?: Rivet[];
}

@rest({
  route: "/barges",
  methods: [one({ filter: ["name"], preSend: leaveOut(["zparts"], ["name"], isLow) }), create()],
  history: true,
})
class Barge extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [create()] })
  @arrayProp({ items: Rivet, embedded: true })
  zparts?: Rivet[];
}

const HIGH = { headers: { "x-level": "high" } };

interface Operation {
  readonly operation: string;
}

test("the history names no part that its reader cannot see", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Vessel], { mongo });
  const { _id } = await app.created("/vessels", {});
  await app.created(`/vessels/${_id}/zparts`, { text: "a" }, HIGH);
  await app.created(`/vessels/${_id}/zone`, { text: "b" }, HIGH);
  await app.created(`/vessels/${_id}/frame`, {}, HIGH);
  await app.created(`/vessels/${_id}/frame/zrivets`, { text: "c" }, HIGH);
  await app.created(`/vessels/${_id}/shown`, { text: "d" }, HIGH);
  const path = `/vessels/${_id}/history`;
  const operations = async (options?: object) =>
    (await app.get<Operation[]>(path, options)).body.map(({ operation }) => operation);
  const all = ["create", "zparts.create", "zone.create", "frame.create", "frame.zrivets.create"];
  assertEquals(await operations(HIGH), [...all, "shown.create"].reverse());
  const seen = ["create", "update", "update", "frame.create", "frame.update", "shown.create"];
  assertEquals(await operations(), seen.reverse());
  const { text } = await app.get(path);
  assertStringIncludes(text, "shown.create");
  assertEquals(/zparts|zone|zrivets/.exec(text), null);
});

test("the history names no part that a hook leaves out", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Barge], { mongo });
  const { _id } = await app.created("/barges", {});
  await app.created(`/barges/${_id}/zparts`, { text: "a" });
  const path = `/barges/${_id}/history`;
  const operations = async (options?: object) =>
    (await app.get<Operation[]>(path, options)).body.map(({ operation }) => operation);
  assertEquals(await operations(HIGH), ["zparts.create", "create"]);
  assertEquals(await operations(), ["update", "create"]);
});

test("the size of a hidden value ends no page of the history", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Vessel], { mongo });
  const { _id } = await app.created("/vessels", {});
  const { collection } = getModel(Vessel);
  for (const letter of ["a", "b", "c"]) {
    const zone = { text: letter.repeat(3 * 1024 * 1024) };
    await collection.updateOne({}, { $set: { zone, "frame.zrivets": [zone] } });
    await app.updated(`/vessels/${_id}`, { frame: { zrivets: [] } }, HIGH);
    await app.updated(`/vessels/${_id}`, { zone: null }, HIGH);
  }
  const path = `/vessels/${_id}/history`;
  const sizeOf = async (options?: object) =>
    (await app.get<Operation[]>(path, options)).body.length;
  assertEquals([await sizeOf(), await sizeOf(HIGH)], [7, 2]);
});
