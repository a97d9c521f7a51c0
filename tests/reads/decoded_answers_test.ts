import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { FrameworkModel, getModel, one, prop, replace, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

@rest({ route: "/accounts", methods: [one(), update()] })
class Account extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  pin?: string;
  @prop({ type: Number, hidden: ({ headers }) => headers["x-role"] !== "boss" })
  salary?: number;
  /** Not stored: made with every read. */
  @prop({
    type: String,
    default(this: unknown) {
      const { pin = "none", salary = 0 } = this as Account;
      return `${pin} ${salary}`;
    },
  })
  label?: string;
}

@rest({ route: "/notes", methods: [one(), update(), replace()] })
class Note extends FrameworkModel {
  @prop()
  text?: string;
}

test("a computed default sees nothing hidden in the answer of an update, whatever is stored beside", async () => {
  await using app = await mount([Account]);
  for (const other of [{}, { other: /x/ }]) {
    const stored = { name: "a", pin: "1234", salary: 5000, ...other };
    const { insertedId } = await getModel(Account).collection.insertOne(stored as never);
    const path = `/accounts/${insertedId}`;
    const answers = [await app.get<Account>(path), await app.patch<Account>(path, { name: "b" })];
    assertEquals(answers.map(({ body }) => body.label), ["none 0", "none 0"], path);
  }
});

test("a connection that gives raw documents serves writes as others do", async () => {
  await using app = await mount([Note]);
  const { insertedId } = await getModel(Note).collection.insertOne({ text: "a", __v: 3 } as never);
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri, { raw: true });
  const [old, made] = [`/notes/${insertedId}`, `/notes/${new mongoose.Types.ObjectId()}`];
  const minimal = { headers: { prefer: "return=minimal" } };
  const answers = [
    await app.patch(old, { text: "b" }),
    await app.patch(old, { text: "c" }, minimal),
    await app.put(made, { text: "new" }),
    await app.put(made, { text: "newer" }, minimal),
    await app.get(old),
  ];
  assertEquals(
    answers.map(({ status, headers }) => [status, headers.get("etag")?.match(/\d+/)?.[0]]),
    [[200, "4"], [204, "5"], [201, "0"], [204, "1"], [200, "5"]],
  );
  assertEquals(answers[2]?.headers.get("location"), made);
});
