import { assertEquals } from "@std/assert";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  type HooksOf,
  one,
  prop,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../support/support.ts";
import { openReplicaSet } from "../support/shared_replica_set.ts";

const LONG = "x".repeat(20);

const hide = (req: { readonly headers: object }) => !("x-staff" in req.headers);

class Note extends FrameworkModel {
  @prop({ maxLength: 10 })
  text?: string;
  @prop({ maxLength: 10, hidden: true })
  internal?: string;
}

@rest({ route: "/accounts", methods: [all()] })
class Account extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ maxLength: 10, hidden: true })
  password?: string;
  @prop({ maxLength: 10, hidden: hide })
  role?: string;
  @prop({ maxLength: 10, select: false })
  apart?: string;
  @prop({ type: Number, hidden: true })
  number?: number;
  @prop({ type: Number, unique: true })
  key?: number;
  @prop({ type: Note })
  note?: Note;
  @prop({ type: Map, of: Note })
  map?: Map<string, Note>;
  @rest({
    methods: [all(), one(), update({ preSave: pass }), updateAll({ max: 9, fields: ["text"] })],
  })
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
}

/** What the application sets before an account is saved. */
let set: (account: Entity<Account>) => unknown = () => {};

const hooks: HooksOf<Account> = {
  preSave(_req, account) {
    set(account);
    return account;
  },
};

const touch = action("touch", {
  on: "one",
  async run(_req, account: Entity<Account>) {
    account.title = "touched";
    set(account);
    return await account.save();
  },
});

@rest({
  route: "/all",
  methods: [
    one(),
    create({ ...hooks, many: 5 }),
    update(hooks),
    updateAll({ ...hooks, max: 9, fields: ["title", "password"] }),
    replace({ ...hooks, by: "key" }),
    touch,
  ],
})
class Served extends Account {
  static override schemaOptions = { collection: "accounts" };
}

@rest({
  route: "/persisted",
  methods: [one(), update<Served>({ persist: async (_req, account) => await account.save() })],
})
class Persisted extends Account {
  static override schemaOptions = { collection: "accounts" };
}

interface Opened {
  readonly app: Mounted;
  readonly told: string[];
  readonly _id: string;
}

function withAccount(run: (opened: Opened) => Promise<void>): () => Promise<void> {
  return async () => {
    await using mongo = await openReplicaSet();
    const told: string[] = [];
    set = () => {};
    await using app = await mount([Served, Persisted], {
      mongo: mongo.uri,
      onError: (_req, error) => void told.push(String(error)),
    });
    const model = getModel(Served);
    await model.init();
    const notes = [1, 2, 3].map((each) => ({
      _id: new model()._id,
      text: `${each}`,
      internal: LONG,
    }));
    const stored = {
      ...{ title: "old", password: LONG, role: LONG, apart: LONG, number: "none", key: 5, notes },
      ...{ note: { text: "a", internal: LONG }, map: { k: { text: "b", internal: LONG } } },
    };
    const { insertedId } = await model.collection.insertOne(stored as never);
    await run({ app, told, _id: String(insertedId) });
  };
}

test(
  "a hidden value that breaks a rule is not validated for those who do not see it",
  withAccount(async ({ app, told, _id }) => {
    const replies = [
      await app.patch(`/all/${_id}`, { title: "new" }),
      await app.patch(`/all/${_id}`, { note: { text: "n" }, map: { k: { text: "m" } } }),
      await app.patch(`/all/${_id}`, { notes: [{ text: "0" }] }),
      await app.patch(`/all${asQuery({})}`, { title: "many" }),
      await app.put(`/all/5`, { title: "put" }),
      await app.post(`/all/${_id}/touch`),
      await app.patch(`/persisted/${_id}`, { title: "persisted" }),
    ];
    assertEquals(
      replies.map(({ status }) => status),
      Array(7).fill(200),
      replies.map((each) => each.text).join(),
    );
    assertEquals(told, []);
    const stored = await getModel(Served).collection.findOne({ key: 5 });
    assertEquals([stored?.password, stored?.role, stored?.number], [LONG, LONG, "none"]);
  }),
);

test(
  "a hidden value that breaks a rule is kept in elements that a body names",
  withAccount(async ({ app, _id }) => {
    const { body: { notes } } = await app.get<{ notes: { _id: string }[] }>(`/all/${_id}`);
    const moved = notes.toReversed().map((each) => ({ ...each, text: "moved" }));
    const reply = await app.patch<ErrorBody>(`/all/${_id}`, { notes: moved });
    assertEquals(reply.status, 200, reply.text);
    const stored = await getModel(Served).collection.findOne({ key: 5 });
    assertEquals(stored?.notes.map(({ internal }: Note) => internal), [LONG, LONG, LONG]);
  }),
);

test(
  "a hidden value that breaks a rule does not stop writes of parts",
  withAccount(async ({ app, told, _id }) => {
    const { body: { notes: [note] } } = await app.get<{ notes: { _id: string }[] }>(`/all/${_id}`);
    const reply = await app.patch(`/all/${_id}/notes/${note?._id}`, { text: "part" });
    assertEquals(reply.status, 200, reply.text);
    const many = await app.patch(`/all/${_id}/notes${asQuery({})}`, { text: "parts" });
    assertEquals([many.status, told], [200, []], many.text);
    const refused = await app.patch<ErrorBody>(`/all/${_id}/notes/${note?._id}`, { text: LONG });
    assertEquals([refused.status, Object.keys(refused.body.errors ?? {})], [400, ["text"]]);
  }),
);

test(
  "a hidden value that breaks a rule is refused if the client sends it",
  withAccount(async ({ app, told, _id }) => {
    const replies = [
      await app.patch<ErrorBody>(`/all/${_id}`, { password: LONG + LONG }),
      await app.patch<ErrorBody>(`/all/${_id}`, { password: LONG }),
      await app.post<ErrorBody>(`/all`, { title: "t", password: LONG }),
      await app.patch<ErrorBody>(`/all/${_id}`, { notes: [{ text: "a", internal: LONG }] }),
      await app.patch<ErrorBody>(`/all${asQuery({})}`, { password: LONG + LONG }),
    ];
    const found = replies.map((
      { status, body: { errors } },
    ) => [status, Object.keys(errors ?? {})]);
    assertEquals(found, [
      [400, ["password"]],
      [400, ["password"]],
      [400, ["password"]],
      [400, ["notes.0.internal"]],
      [400, ["password"]],
    ]);
    assertEquals([told, replies.some(({ text }) => text.includes(LONG))], [[], false]);
  }),
);

test(
  "a hidden value that breaks a rule is in no error of a body that does not fit around it",
  withAccount(async ({ app, told, _id }) => {
    const bodies: [body: object, errors: string[]][] = [
      [{ map: "x" }, ["map"]],
      [{ map: { k: "x" } }, ["map.k"]],
      [{ map: null, key: "x" }, ["key"]],
      [{ note: "x" }, ["note"]],
      [{ note: { text: 5 }, notes: "x", key: "x" }, ["key", "notes"]],
      [{ note: null, key: "x" }, ["key"]],
    ];
    for (const [body, expected] of bodies) {
      const { errors = {} } = (await app.patch<ErrorBody>(`/all/${_id}`, body)).body;
      assertEquals(Object.keys(errors).sort(), expected, JSON.stringify(body));
    }
    assertEquals(told, []);
  }),
);

test(
  "a hidden value that breaks a rule is refused to readers who see it",
  withAccount(async ({ app, _id }) => {
    const headers = { "x-staff": "yes" };
    const reply = await app.patch<ErrorBody>(`/all/${_id}`, { title: "new" }, { headers });
    assertEquals([reply.status, Object.keys(reply.body.errors ?? {})], [400, ["role"]], reply.text);
  }),
);

test(
  "a hidden value that breaks a rule is the application's error if a hook or an action sets it",
  withAccount(async ({ app, told, _id }) => {
    set = (account) => account.password = `${LONG}secret`;
    const replies = [
      await app.patch(`/all/${_id}`, { title: "new" }),
      await app.post(`/all`, { title: "new" }),
      await app.post(`/all`, [{ title: "new" }, { title: "other" }]),
      await app.patch(`/all${asQuery({})}`, { title: "many" }),
      await app.put(`/all/5`, { title: "put" }),
      await app.put(`/all/6`, { title: "put" }),
      await app.post(`/all/${_id}/touch`),
    ];
    assertEquals(replies.map(({ status }) => status), Array(7).fill(500));
    assertEquals(replies.some(({ text }) => /secret|password/.test(text)), false);
    assertEquals(told.length, 7);
    for (const each of told) {
      assertEquals(/Cannot save "Served".*"password".*maxlength/.test(each), true, each);
      assertEquals(each.includes("secret"), false, each);
    }
  }),
);

test(
  "a hidden value that breaks a rule in an element is the application's error if a hook sets it",
  withAccount(async ({ app, told, _id }) => {
    set = (account) => {
      const [, note] = account.notes ?? [];
      if (note !== undefined) note.internal = `${LONG}secret`;
    };
    const reply = await app.patch(`/all/${_id}`, { title: "new" });
    assertEquals([reply.status, told.length], [500, 1]);
    assertEquals(/"notes\.1\.internal"/.test(told.join()), true, told.join());
  }),
);
