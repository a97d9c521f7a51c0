import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  RestError,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** What every secret says here, stored undeclared data included. */
const SECRET = /s3cret/;

class Key extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ hidden: true })
  code?: string;
}

class User extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  password?: string;
  @prop({ type: Key })
  key?: Key;
  @arrayProp({ items: Key, embedded: true })
  keys?: Key[];
  @prop({ type: Map, of: Key })
  named?: Map<string, unknown>;
}

/** A class of the host's own around an entity. */
class View {
  readonly label = "view";
  readonly inner: unknown;

  constructor(inner: unknown) {
    this.inner = inner;
  }
}

/** Ways to put an entity where the answer does not expect one. */
const PLACES: Record<string, (given: unknown) => object> = {
  "another key": (by) => ({ by }),
  "a scalar's name": (title) => ({ title }),
  "a free-form field": (free) => ({ free: { deep: [free] } }),
  "an array": (each) => ({ list: [[each]] }),
  "a map and a set": (each) => ({ map: new Map([["k", each]]), set: new Set([each]) }),
  "a class instance": (each) => new View(new View(each)),
  "toJSON": (each) => ({ toJSON: () => ({ each }) }),
};

/** Copies that hooks make of an entity: of documents, and of lean instances. */
const COPIES: Record<string, (user: never) => unknown> = {
  "itself": (user) => user,
  "a spread": (user: object) => ({ ...user }),
  "a spread with more": (user: object) => ({ ...user, extra: 1 }),
  "Object.assign": (user: object) => Object.assign({}, user),
  "a rest": ({ _id, ...others }: { _id: unknown }) => others,
};

const DOCUMENT_COPIES: Record<string, (user: never) => unknown> = {
  ...COPIES,
  "toObject()": (user: mongoose.Document) => user.toObject(),
  "toObject() with options": (user: mongoose.Document) =>
    user.toObject({ virtuals: true, transform: (_doc, copy) => copy }),
  "a spread of toObject()": (user: mongoose.Document) => ({ ...user.toObject(), extra: 1 }),
  "toJSON()": (user: mongoose.Document) => user.toJSON(),
  "a clone": (user: mongoose.Document) => user.$clone(),
  "its values": (user: mongoose.Document) => (user as unknown as { _doc: object })._doc,
  "spreads of values": (user: mongoose.Document) => {
    const { _doc } = user as unknown as { _doc: { key: { _doc: object } } };
    return [{ ..._doc }, { ..._doc.key._doc }];
  },
  "spreads of a clone": (user: mongoose.Document) => {
    const clone = user.$clone() as unknown as Entity<User>;
    return [{ ...clone }, { ...clone.key }, clone.keys?.map((key) => ({ ...key }))];
  },
  "spreads of parts": (user: Entity<User>) => [
    { ...user.key },
    user.keys?.map((key) => ({ ...key })),
    { ...user.named?.get("k") as object },
    user.keys?.map((key) => (key as unknown as mongoose.Document).toObject()),
  ],
};

const LEAN_COPIES: Record<string, (user: never) => unknown> = {
  ...COPIES,
  "a clone": (user: User) => structuredClone({ ...user, named: undefined, _id: undefined }),
  "JSON": (user: User) => JSON.parse(JSON.stringify(user)),
  "its parts": (user: User) => [{ ...user.key }, user.keys?.map((key) => ({ ...key }))],
  "an instance made by hand": (user: User) =>
    Object.assign(new (class extends User {})(), { name: user.name, password: user.password }),
  "one that a hook has changed": (user: User) => {
    user.password = "s3cret 2";
    return { ...user };
  },
};

/** Stores a user with secrets and data of others, and a note of theirs. */
async function store(): Promise<string> {
  const key = { _id: new mongoose.Types.ObjectId(), label: "l", code: "s3cret", other: "s3cret" };
  const { insertedId } = await getModel(User).collection.insertOne({
    name: "Ann",
    password: "s3cret",
    key,
    keys: [key],
    named: { k: key },
    undeclared: "s3cret",
  } as never);
  const note = { title: "t", owner: insertedId, undeclared: "s3cret", secret: "s3cret" };
  const { insertedId: id } = await getModel(Note).collection.insertOne(note as never);
  return String(id);
}

/** What the running test makes of a note's owner. */
let show: (owner: never) => object = () => ({});

function present(_req: FrameworkRequest, note: { owner?: unknown }): object {
  return show(note.owner as never);
}

function populate(req: FrameworkRequest): boolean {
  req.framework.options.populate = "owner";
  return true;
}

@rest({ route: "/notes", methods: [one({ preFetch: populate, preSend: present as never })] })
@rest({
  route: "/lean",
  methods: [
    one({ lean: true, preFetch: populate, preSend: present as never }),
    all({ lean: true, preFetch: populate, preSend: present as never }),
  ],
})
class Note extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ hidden: true })
  secret?: string;
  @prop({ ref: User })
  owner?: Ref<User>;
}

for (const [route, copies] of [["notes", DOCUMENT_COPIES], ["lean", LEAN_COPIES]] as const) {
  test(`no copy of an entity of another model shows a secret, wherever it is put (${route})`, async (t) => {
    await using app = await mount([Note]);
    const id = await store();
    for (const [name, copy] of Object.entries(copies)) {
      await t.step(name, async () => {
        for (const [place, put] of Object.entries(PLACES)) {
          show = (owner) => put(copy(owner));
          const answer = await app.get(`/${route}/${id}`);
          assertEquals([place, answer.status], [place, 200], answer.text);
          assertStringIncludes(answer.text, name.includes("parts") ? '"l"' : "Ann");
          assertNotMatch(answer.text, SECRET, `${place}: ${answer.text}`);
          show = (owner) => {
            throw new RestError(409, put(copy(owner)));
          };
          const refused = await app.get(`/${route}/${id}`);
          assertEquals(refused.status, 409, refused.text);
          assertNotMatch(refused.text, SECRET, `${place}: ${refused.text}`);
        }
      });
    }
  });
}

test("hooks read and keep the hidden fields of what they get, copies included", async () => {
  await using app = await mount([Note]);
  const id = await store();
  const seen: unknown[] = [];
  show = (owner: { password: string; keys: Key[]; toObject?: () => { password: string } }) => {
    seen.push([owner.password, owner.keys[0]?.code, (owner.toObject?.() ?? owner).password]);
    return {};
  };
  for (const route of ["notes", "lean"]) await app.get(`/${route}/${id}`);
  assertEquals(seen, Array(2).fill(["s3cret", "s3cret", "s3cret"]));
});

test("a copy of the entity itself shows what it declares, and what the hook puts beside it", async () => {
  const copies: ((doc: Entity<Own>) => object)[] = [
    (doc) => ({ ...doc, extra: 1 }),
    (doc) => ({ ...doc.toObject(), extra: 1 }),
    (doc) => Object.assign({}, doc, { extra: 1 }),
  ];
  @rest({
    route: "/own",
    methods: [all<Own>({ preSend: (_req, doc) => copies.map((copy) => copy(doc)) })],
  })
  class Own extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ hidden: true })
    secret?: string;
  }
  await using app = await mount([Own]);
  await getModel(Own).collection.insertOne(
    { name: "a", secret: "s3cret", undeclared: "s3cret" } as never,
  );
  const { body } = await app.get<{ _id: string }[][]>("/own");
  const { _id } = body[0]?.[0] ?? {};
  assertEquals(body, [Array(3).fill({ _id, name: "a", extra: 1 })]);
});

test("an entity without a class shows no secret, wherever it is put", async () => {
  const raw = (req: FrameworkRequest) => {
    req.framework.options.lean = true;
    return true;
  };
  const preSend = (req: FrameworkRequest, own: Own) => {
    if (req.query.refuse) throw new RestError(409, { current: own, key: own.key });
    return { by: own, spread: { ...own }, keys: own.keys, part: new View(own.key) };
  };
  const fetched = { name: "Ann", password: "s3cret", key: { label: "l" }, keys: [] };
  @rest({ route: "/raw", methods: [all({ preFetch: raw, preSend } as never)] })
  @rest({
    route: "/other",
    methods: [all({ fetch: () => [fetched], preSend: showWhole } as never)],
  })
  class Own extends User {}
  await using app = await mount([Own]);
  const key = { label: "l", code: "s3cret" };
  const stored = { name: "Ann", password: "s3cret", key, keys: [key], named: { k: key } };
  await getModel(Own).collection.insertOne(stored as never);
  for (const path of ["/raw", "/raw?refuse=1", "/other", "/other?refuse=1"]) {
    const { text } = await app.get(path);
    assertStringIncludes(text, "Ann");
    assertNotMatch(text, SECRET, `${path}: ${text}`);
  }
});

function showWhole(req: FrameworkRequest, whole: object): object {
  if (req.query.refuse) throw new RestError(409, { current: whole });
  return { by: whole, list: [new View(whole)] };
}
