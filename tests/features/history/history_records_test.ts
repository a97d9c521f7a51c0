import { assertEquals } from "@std/assert";
import mongoose, { type ConnectOptions } from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  type ReadOnly,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import type { EntityBody } from "../../support/support.ts";
import { as, records, serveHistory } from "./plans.ts";

class Entry extends FrameworkModel {
  @prop({ type: BigInt })
  amount?: bigint;
  @prop()
  text?: string;
}

const connections = new Map<string, mongoose.Connection>();

@rest({
  route: "/accounts",
  methods: [all(), one(), create(), update(), remove()],
  history: true,
  schemaOptions: { timestamps: true },
  getConnection: (req) => connections.get(String(req.headers["x-options"])) ?? mongoose.connection,
})
class Account extends FrameworkModel {
  @prop()
  zone?: string;
  @prop()
  name?: string;
  @prop({ type: BigInt })
  balance?: bigint;
  @rest({
    methods: [
      all(),
      one(),
      create(),
      update(),
      action("twice", {
        on: "one",
        async run(_req, entry: Entity<Entry>) {
          await using session = await mongoose.startSession();
          entry.text = "twice";
          await entry.save({ session });
          return entry;
        },
      }),
    ],
  })
  @arrayProp({ items: Entry, embedded: true, apart: false })
  entries!: Entry[];
  // A condition that one statement cannot check, so a write to an entry reads its account.
  @rest({ methods: [create(), update()], scope: () => ({ $expr: { $ne: ["$text", "hidden"] } }) })
  @arrayProp({ items: Entry, embedded: true, apart: false })
  checked!: Entry[];
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: ReadOnly<string>;
}

interface AccountBody extends EntityBody {
  readonly entries: readonly EntityBody[];
  readonly checked: readonly EntityBody[];
}

const accounts = () => getModel(Account).collection;

test("an update answers as a read afterwards, whatever version is stored", async () => {
  await using app = await serveHistory([Account]);
  const versions = [{}, { __v: null }, { __v: 3 }, { __v: mongoose.mongo.Long.fromNumber(4) }];
  for (const version of versions) {
    const { insertedId } = await accounts().insertOne({ name: "a", ...version } as never);
    const path = `/accounts/${insertedId}`;
    const changed = await app.patch(path, { zone: "z", balance: "9007199254740993" }, as("ann"));
    const read = await app.get(path);
    const isWithout = "__v" in version && version.__v === null;
    // Only documents can write a version of `null`, and they have another order.
    assertEquals(isWithout ? changed.body : changed.text, isWithout ? read.body : read.text);
    assertEquals((await app.patch(path, {})).text, (await app.get(path)).text);
  }
});

/** The options of a connection by which the driver decodes values in another way. */
const DECODINGS: Readonly<Record<string, ConnectOptions>> = {
  usual: {},
  bigints: { useBigInt64: true },
  objects: { promoteValues: false },
  longs: { promoteLongs: false },
};

test("records keep integers of 64 bits, with any options of the connection", async (t) => {
  await using app = await serveHistory([Account]);
  for (const [name, options] of Object.entries(DECODINGS)) {
    await t.step(name, async () => {
      const connection = mongoose.createConnection(app.database.uri, options);
      connections.set(name, await connection.asPromise());
      const headers = { "x-options": name };
      const body = { balance: 5, entries: [{ amount: 6 }], checked: [{ amount: 7 }] };
      const made = await app.created<AccountBody>("/accounts", body, { headers });
      const path = `/accounts/${made._id}`;
      const statuses = [
        await app.patch(path, { balance: 8 }, { headers }),
        await app.patch(`${path}/entries/${made.entries[0]?._id}`, { amount: 8 }, { headers }),
        await app.patch(`${path}/checked/${made.checked[0]?._id}`, { amount: 8 }, { headers }),
        await app.delete(path, { headers }),
      ].map(({ status }) => status);
      assertEquals(statuses, [200, 200, 200, 204]);
      assertEquals(await longsOf(made._id), ["5", "6", "7", "8,8,8"]);
      await connection.close();
    });
  }
});

/** Reads the integers of 64 bits in the records of an account. */
async function longsOf(id: string): Promise<string[]> {
  const options = { promoteLongs: false, sort: { version: 1 } } as const;
  const entity = new mongoose.Types.ObjectId(id);
  const found = await mongoose.connection.collection("accounts_history")
    .find({ entity }, options).toArray();
  return found.slice(1).map(({ before }) =>
    JSON.stringify(before).match(/(?<="low":)\d+/g)?.join() ?? "none"
  );
}

test("a write to a part that changes nothing is a record without changes", async () => {
  await using app = await serveHistory([Account]);
  const made = await app.created<AccountBody>("/accounts", { entries: [{ text: "a" }] }, as("ann"));
  const path = `/accounts/${made._id}/entries/${made.entries[0]?._id}`;
  await app.updated(path, { text: "a" }, as("ann"));
  await app.updated(path, {}, as("bob"));
  await app.updated(path, { text: "b" }, as("bob"));
  const all = (await records({}, "accounts_history")).map(({ changed }) => changed.toSorted());
  assertEquals(all, [
    [],
    ["updatedAt"],
    ["changedBy", "updatedAt"],
    ["entries", "updatedAt"],
  ]);
});

test("a part that an action saves in a session without a transaction has one record", async () => {
  await using app = await serveHistory([Account]);
  const made = await app.created<AccountBody>("/accounts", { entries: [{ text: "a" }] });
  await mongoose.connection.collection("accounts_history").createIndex(
    { version: 1 },
    { unique: true, partialFilterExpression: { version: 1 } },
  );
  const path = `/accounts/${made._id}/entries/${made.entries[0]?._id}/twice`;
  assertEquals((await app.post(path, {})).status, 200);
  // The index refuses the record of this write.
  const other = await app.created<AccountBody>("/accounts", { entries: [{ text: "a" }] });
  const refused = `/accounts/${other._id}/entries/${other.entries[0]?._id}/twice`;
  assertEquals((await app.post(refused, {})).status >= 400, true);
  const stored = await accounts().find().sort({ _id: 1 }).toArray();
  assertEquals(stored.map(({ entries: [entry] }) => entry.text), ["twice", "a"]);
});

test("a write whose record would be too large is a 413, and writes nothing", async () => {
  await using app = await serveHistory([Account]);
  const { _id } = await app.created("/accounts", { name: "small" });
  // The values of an entity of the largest size, with those of its record, exceed this size.
  const name = "x".repeat(16 * 1024 * 1024 - 150);
  await accounts().updateOne({}, { $set: { name } });
  const before = await accounts().findOne();
  for (
    const send of [
      () => app.patch(`/accounts/${_id}`, { name: "s" }),
      () => app.delete(`/accounts/${_id}`),
    ]
  ) {
    const { status, text } = await send();
    assertEquals([status, JSON.parse(text).code], [413, "PAYLOAD_TOO_LARGE"]);
  }
  assertEquals(await accounts().findOne(), before);
  assertEquals((await records({}, "accounts_history")).length, 1);
});
