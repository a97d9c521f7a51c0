import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  onlyIf,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount, type Mounted } from "../support/support.ts";

/** Runs while a guard is asked, after it has got the fields. */
let meanwhile: () => unknown = () => {};
let asked = 0;

const isOpen = onlyIf(
  ["state"],
  async (_req: FrameworkRequest, { state }: Pick<Line, "state">) => {
    asked++;
    const passes = state !== "shut";
    await meanwhile();
    return passes;
  },
);

class Line extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ hidden: true })
  state?: string;
}

class Page extends FrameworkModel {
  @prop()
  text?: string;
  @prop()
  state?: string;
}

const WRITES = [update({ postFetch: isOpen }), remove({ postFetch: isOpen })];

const WRITES_OF_MANY = [
  updateAll({ fields: ["text"], postFetch: isOpen }),
  removeAll({ postFetch: isOpen }),
] as const;

@rest({ route: "/books", methods: [one()] })
class Book extends FrameworkModel {
  @rest({
    methods: [
      all(),
      ...WRITES,
      ...WRITES_OF_MANY,
    ],
  })
  @arrayProp({ items: Line, embedded: true, apart: false })
  lines?: Line[];
  @rest({ methods: [one(), ...WRITES] })
  @prop({ type: Line, apart: false })
  head?: Line;
  @rest({ methods: [all(), ...WRITES, ...WRITES_OF_MANY] })
  @arrayProp({ items: Page, apart: false })
  pages?: Ref<Page>[];
}

interface Place {
  readonly id: string;
  readonly part: string;
}

const REQUESTS: [string, (app: Mounted, place: Place) => Promise<{ status: number }>][] = [
  ["update", (app, { id, part }) => app.patch(`/books/${id}/lines/${part}`, { text: "b" })],
  [
    "update of all",
    (app, { id, part }) => app.patch(`/books/${id}/lines${asQuery({ _id: part })}`, { text: "b" }),
  ],
  ["update of one", (app, { id }) => app.patch(`/books/${id}/head`, { text: "b" })],
  [
    "update of a reference",
    (app, { id, part }) => app.patch(`/books/${id}/pages/${part}`, { text: "b" }),
  ],
  [
    "update of all references",
    (app, { id, part }) => app.patch(`/books/${id}/pages${asQuery({ _id: part })}`, { text: "b" }),
  ],
  ["remove", (app, { id, part }) => app.delete(`/books/${id}/lines/${part}`)],
  ["remove of all", (app, { id }) => app.delete(`/books/${id}/lines`)],
  ["remove of one", (app, { id }) => app.delete(`/books/${id}/head`)],
  ["remove of a reference", (app, { id, part }) => app.delete(`/books/${id}/pages/${part}`)],
  ["remove of all references", (app, { id }) => app.delete(`/books/${id}/pages`)],
];

async function store(): Promise<Place> {
  meanwhile = () => {};
  const part = new mongoose.Types.ObjectId();
  const line = { _id: part, text: "a" };
  const book = { _id: new mongoose.Types.ObjectId(), lines: [line], head: line, pages: [part] };
  await getModel(Book).collection.insertOne({ ...book, __v: 0 } as never);
  await getModel(Page).collection.deleteMany({});
  await getModel(Page).collection.insertOne({ ...line, __v: 0 } as never);
  return { id: String(book._id), part: String(part) };
}

async function shut(place: Place): Promise<void> {
  await setState(place, "shut");
}

async function setState({ id, part }: Place, state: string): Promise<void> {
  const _id = new mongoose.Types.ObjectId(id);
  const page = new mongoose.Types.ObjectId(part);
  const states = { "lines.0.state": state, "head.state": state };
  await getModel(Book).collection.updateOne({ _id }, { $set: states, $inc: { __v: 1 } });
  const change = { $set: { state }, $inc: { __v: 1 } };
  await getModel(Page).collection.updateOne({ _id: page }, change);
}

async function texts({ id, part }: Place): Promise<unknown[]> {
  const _id = new mongoose.Types.ObjectId(id);
  const page = new mongoose.Types.ObjectId(part);
  const book = await getModel(Book).collection.findOne({ _id });
  return [
    book?.lines?.[0]?.text,
    book?.head?.text,
    (await getModel(Page).collection.findOne({ _id: page }))?.text,
  ];
}

test("no write of a guard with names lands on a part that has changed meanwhile", async (t) => {
  await using app = await mount([Book]);
  for (const [name, send] of REQUESTS) {
    await t.step(name, async () => {
      const place = await store();
      const { status } = await send(app, place);
      assert(status < 300, String(status));
      const raced = await store();
      meanwhile = () => shut(raced);
      const refused = await send(app, raced);
      assertEquals(await texts(raced), ["a", "a", "a"]);
      const isOfAll = name.startsWith("remove of all");
      assert([404, 409].includes(refused.status) || isOfAll, `${refused.status}`);
    });
  }
});

const OF_ONE = REQUESTS.filter(([name]) => !/\ball\b/.test(name));

test("a guard with names of a part is asked again after a change, up to three times", async (t) => {
  await using app = await mount([Book]);
  for (const [name, send] of OF_ONE) {
    await t.step(name, async () => {
      const place = await store();
      asked = 0;
      meanwhile = () => asked < 3 ? setState(place, `s${asked}`) : undefined;
      const { status } = await send(app, place);
      assertEquals([status < 300, asked], [true, 3], String(status));
      const raced = await store();
      asked = 0;
      meanwhile = () => setState(raced, `s${asked}`);
      const refused = await send(app, raced);
      assertEquals([refused.status, asked], [409, 3]);
      assertEquals(await texts(raced), ["a", "a", "a"]);
    });
  }
});
