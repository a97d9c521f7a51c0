import { assert, assertEquals } from "@std/assert";
import mongoose, { type HydratedDocument } from "mongoose";
import { action, all, create, type Entity, one, update } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

const { Schema } = mongoose;

const SECRET = "s3cr3t";

const cardSchema = new Schema({ bank: String, number: String }, {
  toJSON: { transform: (_doc, json) => Object.assign(json, { digits: json.number }) },
});

const clientSchema = new Schema({
  name: { type: String, required: true },
  email: String,
  password: { type: String, select: false },
  hash: String,
  home: { city: String, door: String },
  cards: [cardSchema],
  first: cardSchema,
}, { timestamps: true });
clientSchema.virtual("greeting").get(function () {
  return `Hi ${this.name} ${this.hash}`;
});
clientSchema.method("toJSON", function () {
  const { _id, hash: _hash, email, createdAt: _made, ...others } = this.toObject({
    virtuals: true,
  });
  return {
    ...others,
    id: String(_id),
    mail: email,
    greeting: this.get("greeting"),
    raw: Reflect.get(this, "_doc"),
  };
});

const ClientModel = mongoose.model("AdoptedClient", clientSchema);

type Client = HydratedDocument<{ name: string }>;

const given = (_req: unknown, { _id }: { readonly _id: unknown }) =>
  ClientModel.hydrate(STORED(_id));

const STORED = (id: unknown) => ({
  _id: id,
  name: "Ann",
  email: SECRET,
  hash: SECRET,
  home: { city: "Rome", door: SECRET },
  cards: [{ bank: "B", number: SECRET }],
  first: { bank: "B", number: SECRET },
});

const Client = adopt(ClientModel, {
  shown: ["name", "home.city", "cards.bank", "first.bank"],
  writable: "all",
  rest: [
    { route: "/adopted-clients", methods: [all(), one(), create(), update(), ...shows()] },
    {
      route: "/given-clients",
      methods: [all({ preSend: given as never }), one({ preSend: given as never })],
    },
    {
      route: "/part-clients",
      methods: [all({ preSend: parts as never }), one({ preSend: parts as never })],
    },
    {
      route: "/spread-clients",
      methods: [
        all({ preSend: (_req, client) => ({ ...client }) as never }),
        one({ preSend: (_req, client) => client.toObject({ virtuals: true }) as never }),
      ],
    },
    { route: "/lean-clients", methods: [all({ lean: true, preSend: (_req, client) => client })] },
  ],
});

type Made = Client & { readonly cards: readonly unknown[]; readonly first: unknown };

/** Documents of the application's model, and their parts, in places that the model does not have. */
function parts(_req: unknown, { _id }: { readonly _id: unknown }): object {
  const doc = given(undefined, { _id }) as unknown as Made;
  const list = [doc.cards[0], doc.first];
  return { _id, list, inner: { map: new Map([["a", doc.first]]), doc }, lean: { ...doc } };
}

function shows() {
  return [
    action("whole", { on: "one", method: "GET", run: given as never }),
    action("own", { on: "one", method: "GET", run: (_req, client: Entity<never>) => client }),
  ];
}

const ROUTES = [
  "/adopted-clients",
  "/given-clients",
  "/spread-clients",
  "/part-clients",
  "/lean-clients",
];

test("no answer shows hidden values, whatever the model's JSON or a hook makes of them", async () => {
  await using app = await mount([Client]);
  const { _id: _none, ...values } = STORED(undefined);
  const made = await app.post<EntityBody>("/adopted-clients", values);
  const clients = app.database.connection.collection("adoptedclients");
  await clients.updateOne({}, { $set: { hash: SECRET, email: SECRET } });
  const stored = await clients.findOne();
  const id = String(stored?._id);
  assertEquals([made.status, made.body.id], [201, id]);
  const one = ROUTES.slice(0, 4).map((route) => `${route}/${id}`);
  const actions = ["whole", "own"].map((name) => `/adopted-clients/${id}/${name}`);
  for (const path of [...ROUTES, ...one, ...actions]) {
    const { status, text } = await app.get(path);
    assertEquals(status, 200, `${path} ${text}`);
    assert(!text.includes(SECRET), `${path} ${text}`);
    assert(text.includes('"bank":"B"'), `${path} ${text}`);
  }
  const changed = await app.patch(`/adopted-clients/${id}`, {
    name: "Bea",
    home: { door: SECRET },
  });
  assertEquals([changed.status, changed.text.includes(SECRET)], [200, false], changed.text);
});

const Whole = adopt(mongoose.model("AdoptedWhole", clientSchema.clone()), {
  shown: "all",
  writable: "all",
  rest: { route: "/adopted-whole", methods: [all(), one(), create()] },
});

test(`"all" holds no virtual, no unselected path, and nothing that the model's JSON removes`, async () => {
  await using app = await mount([Whole]);
  const { body } = await app.post<EntityBody>("/adopted-whole", {
    ...{ name: "Ann", email: "e", password: "p", hash: "h" },
    ...{ home: { city: "c", door: "d" }, first: { bank: "b", number: "n" } },
  });
  const { _id: _none, id, updatedAt, first, ...others } = body as Record<string, unknown>;
  assertEquals([typeof id, typeof updatedAt], ["string", "string"]);
  assertEquals(others, { name: "Ann", home: { city: "c", door: "d" }, cards: [], __v: 0 });
  const { _id, ...card } = first as EntityBody;
  assertEquals(card, { bank: "b", number: "n" } as never);
  const [stored] = await app.database.connection.collection("adoptedwholes").find().toArray();
  assertEquals([stored?.email, stored?.password, stored?.hash], [undefined, undefined, undefined]);
});

const tagSchema = new Schema({ name: String, code: { type: String, required: true } }, {
  toObject: { transform: (_doc, object) => ({ ...object, code: undefined }) },
  toJSON: { transform: (_doc, json) => ({ ...json, id: json.name }) },
});

const Tag = adopt(mongoose.model("AdoptedTag", tagSchema), {
  shown: "all",
  writable: "all",
  rest: {
    route: "/adopted-tags",
    methods: [all(), create({ preSave: (_req, tag) => Object.assign(tag, { code: SECRET }) })],
  },
});

test(`"all" leaves out what toObject() removes, and an "id" of another value`, async () => {
  await using app = await mount([Tag]);
  const created = await app.created("/adopted-tags", { name: "a", code: "b" });
  assertEquals(created as object, { _id: created._id, name: "a", __v: 0 });
  assertEquals(await app.read<unknown>("/adopted-tags"), [created]);
  const { status } = await app.get(`/adopted-tags?q=${JSON.stringify({ code: SECRET })}`);
  assertEquals(status, 400);
});
