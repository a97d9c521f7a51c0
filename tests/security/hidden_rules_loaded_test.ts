import { assertEquals } from "@std/assert";
import {
  action,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";

const LONG = "x".repeat(20);

const touch = action("touch", {
  on: "all",
  async run(_req, { model }) {
    const account = await model.findOne().orFail();
    account.set("title", "touched");
    return await account.save() as Entity<Account>;
  },
});

@rest({
  route: "/accounts",
  methods: [
    touch,
    update<Account>({
      async persist(_req, { _id, title }) {
        const account = await getModel(Account).findById(_id).orFail();
        account.title = title;
        return await account.save();
      },
    }),
    create<Account>({
      persist: async (_req, { title, password }) =>
        await getModel(Account).create({ title, password: password ?? "" }),
    }),
  ],
})
class Account extends FrameworkModel {
  @prop({ required: true, maxLength: 30 })
  title!: string;
  @prop({ maxLength: 10, hidden: true })
  password?: string;
}

test("a hidden value that breaks a rule is not told of documents that a hook has read", async () => {
  const told: string[] = [];
  await using app = await mount([Account], {
    onError: (_req, error) => void told.push(String(error)),
  });
  const stored = { title: "old", password: LONG };
  const { insertedId } = await getModel(Account).collection.insertOne(stored as never);
  const replies = [
    await app.post<ErrorBody>("/accounts/touch"),
    await app.patch<ErrorBody>(`/accounts/${insertedId}`, { title: "new" }),
  ];
  assertEquals(replies.map(({ status }) => status), [500, 500]);
  assertEquals(replies.some(({ text }) => text.includes("password")), false);
  assertEquals(told.length, 2);
  const sent = await app.post<ErrorBody>("/accounts", { title: "new", password: LONG });
  assertEquals([sent.status, Object.keys(sent.body.errors ?? {})], [400, ["password"]]);
  const both = await app.patch<ErrorBody>(`/accounts/${insertedId}`, { title: LONG + LONG });
  assertEquals([both.status, Object.keys(both.body.errors ?? {})], [400, ["title"]]);
});

class Key extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ required: true, hidden: true })
  code!: string;
}

@rest({ route: "/doors", methods: [update({ preSave: (_req, door) => door })] })
class Door extends FrameworkModel {
  @prop()
  title?: string;
  @arrayProp({
    items: Key,
    embedded: true,
    validate: (keys: Key[]) => keys.every(({ code }) => code !== "secret"),
  })
  keys?: Key[];
}

test("a rule of a list with hidden values binds those who change the list", async () => {
  await using app = await mount([Door]);
  const keys = [{ label: "a", code: "secret" }, { label: "b" }];
  const { insertedId } = await getModel(Door).collection.insertOne({ keys } as never);
  const at = `/doors/${insertedId}`;
  assertEquals((await app.patch(at, { title: "new" })).status, 200);
  const lacking = await app.patch<ErrorBody>(at, { keys: [{ label: "c" }] });
  assertEquals([lacking.status, Object.keys(lacking.body.errors ?? {})], [400, ["keys.0.code"]]);
  const refused = await app.patch<ErrorBody>(at, { keys: [{ label: "c", code: "secret" }] });
  assertEquals([refused.status, Object.keys(refused.body.errors ?? {})], [400, ["keys"]]);
  assertEquals((await app.patch(at, { keys: [{ label: "c", code: "c" }] })).status, 200);
});
