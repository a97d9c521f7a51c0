import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  leaveOut,
  prop,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, mount } from "../../support/support.ts";

const { BSON, ObjectId } = mongoose.mongo;

const withoutPay = leaveOut<Worker, "pay", "name">(
  ["pay"],
  ["name"],
  (req: FrameworkRequest) => req.headers["x-role"] !== "chief",
);

const byPay = ({ framework }: FrameworkRequest) => {
  framework.options.sort = { pay: 1 };
  return true;
};

@rest({
  route: "/workers",
  methods: [
    all({ filter: ["name"], page: { size: 1, max: 5 }, preFetch: byPay, preSend: withoutPay }),
  ],
})
class Worker extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  pay?: number;
}

test("no cursor has or takes the value of a field that a hook leaves out", async () => {
  await using app = await mount([Worker]);
  const pays = [1000, 2000, 3000];
  await getModel(Worker).collection.insertMany(
    pays.map((pay) => ({ name: `${pay}`, pay, __v: 0 })),
  );
  for (const role of ["chief", "clerk"]) {
    const headers = { "x-role": role };
    const first = await app.get<EntityBody[]>("/workers", { headers });
    const [, next = ""] = /<([^>]*)>; rel="next"/.exec(first.headers.get("link") ?? "") ?? [];
    const cursor = new URL(next, "http://a").searchParams.get("after") ?? "";
    const { o, v } = BSON.deserialize(Buffer.from(cursor, "base64url"));
    assert(v === undefined, String(v));
    const second = await app.get<EntityBody[]>(next, { headers });
    assertEquals(second.body.map(({ name }) => name), ["2000"]);
    const guess = { o, v: [1500, new ObjectId("ffffffffffffffffffffffff")] };
    const after = Buffer.from(BSON.serialize(guess)).toString("base64url");
    assertEquals((await app.get(`/workers?after=${after}`, { headers })).status, 400);
  }
});
