import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose, { Schema, Types } from "mongoose";
import { create, FrameworkModel, getModel, one, prop, type Ref, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";

@rest({ route: "/ranked", methods: [one()], scope: () => ({ rank: { $gte: 2 } }) })
class Ranked extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
}

class ByUuid extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: Schema.Types.UUID });
  }
}

class ByNumber extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: Schema.Types.BigInt });
  }
}

class ByText extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: String });
  }
}

@rest({ route: "/holders", methods: [one(), create()] })
class Holder extends FrameworkModel {
  @prop({ ref: Ranked, exists: true })
  ranked?: Ref<Ranked>;
  @prop({ type: Types.ObjectId, ref: () => Ranked, exists: true, select: false })
  quiet?: Ref<Ranked>;
  @prop({ type: String, ref: Ranked, exists: true })
  text?: string;
  @prop({ type: Types.UUID, ref: "ByUuid", exists: true })
  byUuid?: Types.UUID;
  @prop({ type: Number, ref: "ByNumber", exists: true })
  byNumber?: number;
  @prop({ type: String, ref: ByText, exists: true })
  byText?: string;
}

/** What the host may set for its own queries. */
const SETTINGS = [["strict", true], ["sanitizeFilter", true], ["strictQuery", "throw"]] as const;

for (const [setting, value] of SETTINGS) {
  test(`identifiers of all types are found, whatever ${setting} is`, async () => {
    await using app = await mount([Holder]);
    const ranks = await getModel(Ranked).create([{ rank: 1 }, { rank: 2 }]);
    const [low, high] = ranks.map(({ _id }) => String(_id));
    const uuid = crypto.randomUUID();
    await getModel(ByUuid).create({ _id: uuid } as never);
    await getModel(ByNumber).create({ _id: 5n } as never);
    await getModel(ByText).create({ _id: "a" } as never);
    const before: unknown = mongoose.get(setting);
    mongoose.set(setting, value);
    const known = { byUuid: uuid, byNumber: 5, byText: "a" };
    await app.created("/holders", {
      ranked: high,
      quiet: high,
      text: high?.toUpperCase(),
      ...known,
    });
    const other = { byUuid: crypto.randomUUID(), byNumber: 6, byText: "b" };
    const body = { ranked: low, quiet: low, text: "no identifier", ...other };
    const reply = await app.post<ErrorBody>("/holders", body);
    mongoose.set(setting, before as never);
    assertEquals(Object.keys(reply.body.errors ?? {}), Object.keys(body));
    assertEquals(Object.values(body).filter((each) => reply.text.includes(`"${each}"`)), []);
  });
}

test("identifiers that are bytes are told apart", async () => {
  class ByBytes extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.add({ _id: Schema.Types.Buffer });
    }
  }
  @rest({ route: "/lists", methods: [create()] })
  class List extends FrameworkModel {
    @prop({ type: Map, of: Buffer, ref: "ByBytes", exists: true })
    all?: Map<string, Buffer>;
  }
  await using app = await mount([List]);
  await getModel(ByBytes).create({ _id: Buffer.from([255]) } as never);
  const all = { a: "/w==", b: "/g==" };
  const { body } = await app.post<ErrorBody>("/lists", { all });
  assertEquals(Object.keys(body.errors ?? {}), ["all.b"]);
});
