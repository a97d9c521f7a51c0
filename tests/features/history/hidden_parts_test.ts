import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
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

interface Operation {
  readonly operation: string;
}

test("the history names no part that its reader cannot see", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Vessel], { mongo });
  const high = { headers: { "x-level": "high" } };
  const { _id } = await app.created("/vessels", {});
  await app.created(`/vessels/${_id}/zparts`, { text: "a" }, high);
  await app.created(`/vessels/${_id}/zone`, { text: "b" }, high);
  await app.created(`/vessels/${_id}/frame`, {}, high);
  await app.created(`/vessels/${_id}/frame/zrivets`, { text: "c" }, high);
  await app.created(`/vessels/${_id}/shown`, { text: "d" }, high);
  const path = `/vessels/${_id}/history`;
  const operations = async (options?: object) =>
    (await app.get<Operation[]>(path, options)).body.map(({ operation }) => operation);
  const all = ["create", "zparts.create", "zone.create", "frame.create", "frame.zrivets.create"];
  assertEquals(await operations(high), [...all, "shown.create"].reverse());
  const seen = ["create", "update", "update", "frame.create", "frame.update", "shown.create"];
  assertEquals(await operations(), seen.reverse());
  const { text } = await app.get(path);
  assertStringIncludes(text, "shown.create");
  assertEquals(/zparts|zone|zrivets/.exec(text), null);
});
