import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  leaveOut,
  prop,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";
import { onlyStrict } from "../support/only_strict.ts";

const isStranger = (req: FrameworkRequest) => req.headers["x-role"] !== "chief";

const withoutPay = leaveOut<Worker, "pay" | "contract", "name">(
  ["pay", "contract"],
  ["name"],
  isStranger,
);

const projected = ({ framework }: FrameworkRequest) => {
  framework.projection = { pay: 0, contract: 0 };
  return true;
};

class Contract extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number, readonly: true })
  days?: number;
}

@rest({
  route: "/left",
  methods: [update({ filter: ["name"], preSend: withoutPay }), replace({ preSend: withoutPay })],
})
@rest({ route: "/projected", methods: [update({ preFetch: projected })] })
class Worker extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number, readonly: true })
  pay?: number;
  @prop({ type: Contract })
  contract?: Contract;
  @arrayProp({ items: Contract, embedded: true })
  earlier?: Contract[];
}

async function store() {
  const _id = new mongoose.Types.ObjectId();
  const contract = { _id: new mongoose.Types.ObjectId(), text: "t", days: 20 };
  const worker = { _id, name: "ann", pay: 5000, contract, earlier: [contract], __v: 0 };
  await getModel(Worker).collection.insertOne(worker as never);
  return String(_id);
}

test("no strict body tells whether a guess of a field is right that the answer lacks", async (t) => {
  await using app = await mount([Worker], { strict: onlyStrict("bodies") });
  for (
    const [method, route] of [["PATCH", "left"], ["PUT", "left"], ["PATCH", "projected"]] as const
  ) {
    await t.step(`${method} ${route}`, async () => {
      const id = await store();
      const send = async (body: object) => {
        const { status, text } = await app.send(method, `/${route}/${id}`, { body });
        return [status, text];
      };
      assertEquals(await send({ pay: 5000 }), await send({ pay: 4999 }));
      const [status] = await send({ pay: 5000 });
      assertEquals(status, 400);
      assertEquals(
        await send({ contract: { days: 20 } }),
        await send({ contract: { days: 21 } }),
      );
    });
  }
  const id = await store();
  const same = await app.patch(`/left/${id}`, { _id: id, __v: 0, name: "bea" });
  assertEquals([same.status, same.body.pay], [200, undefined], same.text);
});

test("an identifier of an element that is an object names no element", async (t) => {
  for (const bodies of ["strict", undefined] as const) {
    await t.step(String(bodies), async () => {
      await using app = await mount([Worker], { ...bodies && { strict: onlyStrict("bodies") } });
      const id = await store();
      for (const _id of [{ toString: 1 }, { valueOf: {} }, [{}], null]) {
        const { status, text } = await app.patch<ErrorBody>(`/left/${id}`, { earlier: [{ _id }] });
        assertEquals(status, bodies === "strict" ? 400 : 200, text);
      }
    });
  }
});
