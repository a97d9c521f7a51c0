import { assert, assertEquals } from "@std/assert";
import mongoose, { type Query } from "mongoose";
import { all, create, one } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../support/support.ts";

const { Schema } = mongoose;

const boxSchema = new Schema({ label: String, code: String }, {
  toJSON: { transform: (_doc, { code: _code, ...json }) => json },
});

const crateSchema = new Schema({
  name: String,
  password: String,
  rows: [{ label: String, token: String }],
  boxes: { type: Map, of: boxSchema },
}, {
  toJSON: {
    transform(_doc, json) {
      json.password = undefined as never;
      for (const row of json.rows) row.token = undefined as never;
      return json;
    },
  },
});

const Crate = adopt(mongoose.model("AdoptedCrate", crateSchema), {
  shown: "all",
  writable: "all",
  rest: { route: "/adopted-crates", methods: [all(), create()] },
});

test(`"all" leaves out what toJSON() sets to undefined, or removes in a Map`, async () => {
  await using app = await mount([Crate]);
  const made = await app.post<EntityBody>("/adopted-crates", {
    ...{ name: "a", password: "s", rows: [{ label: "b", token: "s" }] },
    boxes: { one: { label: "c", code: "s" } },
  });
  const stored = await app.database.connection.collection("adoptedcrates").findOne();
  assertEquals([stored?.password, stored?.rows[0].token, stored?.boxes.one.code], [
    undefined,
    undefined,
    undefined,
  ]);
  for (const path of ["password", "rows.token", "boxes.one.code"]) {
    const filtered = await app.get(`/adopted-crates${asQuery({ [path]: { $regex: "^s" } })}`);
    assertEquals(filtered.status, 400, `${path} ${filtered.text}`);
  }
  const shown = await app.get(`/adopted-crates${asQuery({ "boxes.one.label": "c" })}`);
  assertEquals(shown.body, [made.body]);
});

const SECRET = "s3cr3t";

const shelfSchema = new Schema(
  { name: String, pin: String, nested: { seen: String, pin: String } },
  {
    id: false,
  },
);
for (const name of ["id", "flat", "nested.leak"]) {
  shelfSchema.virtual(name).get(function () {
    return this.pin;
  });
}
const ShelfModel = mongoose.model("AdoptedShelf", shelfSchema);

type Shelf = InstanceType<typeof ShelfModel>;

const VIRTUALS = { virtuals: true, getters: true };

const COPIES: readonly ((shelf: Shelf) => object)[] = [
  (shelf) => shelf.toObject(VIRTUALS),
  (shelf) => shelf.toJSON(VIRTUALS),
  (shelf) => ({ inner: shelf.toObject(VIRTUALS), part: shelf.nested }),
  ({ _id }) => ({ part: ShelfModel.hydrate({ _id, nested: { seen: "a", pin: SECRET } }).nested }),
];

const Shelf = adopt(ShelfModel, {
  shown: ["name", "nested.seen"],
  writable: "all",
  rest: [
    { route: "/adopted-shelves", methods: [create()] },
    ...COPIES.map((copy, index) => ({
      route: `/adopted-shelves-${index}`,
      methods: [one({ preSend: (_req, shelf) => copy(shelf as never) as never })],
    })),
  ],
});

test("copies of hooks hide nested paths, virtuals of them, and an id of another meaning", async () => {
  await using app = await mount([Shelf]);
  const given = { name: "a", pin: SECRET, nested: { seen: "a", pin: SECRET } };
  const { body: { _id } } = await app.post<EntityBody>("/adopted-shelves", given);
  for (const index of COPIES.keys()) {
    const { status, text } = await app.get(`/adopted-shelves-${index}/${_id}`);
    assertEquals(status, 200, text);
    assert(text.includes('"seen":"a"') && !text.includes(SECRET), `${index} ${text}`);
  }
});

/** In the test, because the model writes on its connection. */
function clerk() {
  const model = mongoose.model("AdoptedSalary", new Schema({ sum: Number }));

  const schema = new Schema({
    name: String,
    salary: Schema.Types.ObjectId,
    years: [{ salary: Schema.Types.ObjectId }],
  });
  schema.pre(/^find/, function (this: Query<unknown, unknown>) {
    for (const path of ["salary", "years.salary"]) this.populate({ path, model });
  });

  const target = adopt(mongoose.model("AdoptedClerk", schema), {
    shown: "all",
    writable: "all",
    rest: { route: "/adopted-clerks", methods: [all(), create()] },
  });
  return { target, model };
}

test("a path without ref that middleware populates stays an identifier", async () => {
  const { target, model } = clerk();
  await using app = await mount([target]);
  const salary = String((await model.create({ sum: 7 }))._id);
  const made = await app.post("/adopted-clerks", { name: "a", salary, years: [{ salary }] });
  assertEquals((await app.get("/adopted-clerks")).body, [made.body]);
});

const lockerSchema = new Schema({
  name: String,
  pin: { type: String, select: false },
  inner: { code: { type: String, select: false }, key: { type: String, select: false } },
});

const Locker = adopt(mongoose.model("AdoptedLocker", lockerSchema), {
  shown: ["name", "pin", "inner", "inner.code"],
  writable: ["name", "pin", "inner.code", "inner.key"],
  rest: { route: "/adopted-lockers", methods: [all(), one(), create()] },
});

test("a path with select: false is shown if it has a name of its own", async () => {
  await using app = await mount([Locker]);
  const given = { name: "a", pin: "1", inner: { code: "2", key: "3" } };
  const made = await app.post<EntityBody>("/adopted-lockers", given);
  const shown = { ...given, inner: { code: "2" }, _id: made.body._id, __v: 0 };
  assertEquals(made.body, shown as never);
  assertEquals((await app.get(`/adopted-lockers/${made.body._id}`)).body, shown);
  assertEquals((await app.get(`/adopted-lockers${asQuery({ pin: "1" })}`)).body, [shown]);
  assertEquals((await app.get(`/adopted-lockers${asQuery({ "inner.key": "3" })}`)).status, 400);
});
