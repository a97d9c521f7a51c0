import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { Note } from "../fixtures/library.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** Takes the parent out of its scope, as someone else would in the middle of a request. */
async function leave(_req: unknown, item: object): Promise<object> {
  await getModel(Case).collection.updateMany({}, { $set: { open: false } });
  return item;
}

@rest({ route: "/cases", methods: [one()], scope: () => ({ open: true }) })
class Case extends FrameworkModel {
  @prop({ default: true })
  open!: boolean;
  @rest({
    methods: [create({ preSave: leave }), update({ preSave: leave }), remove({ preSave: leave })],
  })
  @arrayProp({ items: Note, embedded: true })
  items?: Note[];
  @rest({ methods: [create({ preSave: leave }), remove({ preSave: leave })] })
  @arrayProp({ items: Note })
  refs?: Ref<Note>[];
}

test("a part whose parent leaves its scope between fetch and save is not changed", async () => {
  await using app = await mount([Case]);
  const ref = await getModel(Note).create({ name: "R" });
  const { _id, items } = await getModel(Case).create(
    { items: [{ name: "A" }], refs: [ref._id] } as never,
  ) as Case;
  const at = `/cases/${_id}`;
  const item = `${at}/items/${items?.[0]?._id}`;
  const open = () => getModel(Case).collection.updateMany({}, { $set: { open: true } });
  for (
    const send of [
      () => app.post(`${at}/items`, { name: "N" }),
      () => app.patch(item, { name: "B" }),
      () => app.delete(item),
      () => app.post(`${at}/refs`, { name: "N" }),
      () => app.delete(`${at}/refs/${ref._id}`),
    ]
  ) {
    await open();
    assertEquals((await send()).status, 409);
  }
  const after = await getModel(Case).findById(_id);
  assertEquals([after?.items?.map(({ name }) => name), after?.refs?.length, after?.__v], [
    ["A"],
    1,
    0,
  ]);
  assertEquals(await getModel(Note).countDocuments(), 1);
});

/** Takes what a level has just read out of its scope, if the request says so. */
function shut(path: string) {
  return async (req: FrameworkRequest, entity: object) => {
    const outside = { $set: { [path]: false } };
    if (req.headers["x-shut"] === path) await getModel(Safe).collection.updateMany({}, outside);
    return entity;
  };
}

class Folder extends FrameworkModel {
  @prop({ default: true })
  open!: boolean;
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Note, embedded: true })
  items?: Note[];
}

@rest({
  route: "/safes",
  methods: [one({ postFetch: shut("open") })],
  scope: () => ({ open: true }),
})
class Safe extends FrameworkModel {
  @prop({ default: true })
  open!: boolean;
  @rest({ methods: [one({ postFetch: shut("folders.0.open") })], scope: () => ({ open: true }) })
  @arrayProp({ items: Folder, embedded: true, apart: false })
  folders?: Folder[];
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Note, embedded: true })
  items?: Note[];
}

test("a part whose parent leaves its scope once it was read is not shown", async () => {
  await using app = await mount([Safe]);
  const items = [{ name: "A" }];
  const safe = await getModel(Safe).create({ items, folders: [{ items }] } as never) as Safe;
  const at = `/safes/${safe._id}`;
  const folder = `${at}/folders/${safe.folders?.[0]?._id}`;
  const cases = [[`${at}/items`, "open"], [`${folder}/items`, "folders.0.open"]] as const;
  for (const [url, path] of cases) {
    const shown = await app.get(url, { headers: { "x-shut": "other" } });
    assertEquals([shown.status, shown.text.includes("A")], [200, true]);
    const { text } = await app.get(url, { headers: { "x-shut": path } });
    assertEquals([url, text.includes(`"A"`)], [url, false]);
    await getModel(Safe).collection.updateMany({}, { $set: { [path]: true } });
  }
});

test("a single part that vanishes between fetch and save is 409, and does not come back", async () => {
  const vanish = async (_req: unknown, item: object) => {
    await getModel(Frame).collection.updateOne({}, { $unset: { item: 1, ref: 1 } });
    return item;
  };
  @rest({ route: "/frames", methods: [one()] })
  class Frame extends FrameworkModel {
    @rest({ methods: [update({ preSave: vanish }), remove({ preSave: vanish })] })
    @prop({ type: Note })
    item?: Note;
    @rest({ methods: [remove({ preSave: vanish })] })
    @prop({ ref: Note })
    ref?: Ref<Note>;
  }
  await using app = await mount([Frame]);
  const ref = await getModel(Note).create({ name: "R" });
  const whole = { item: { _id: ref._id, name: "A" }, ref: ref._id };
  const { _id } = await getModel(Frame).create(whole as never);
  const at = `/frames/${_id}`;
  const changes = [() => app.patch(`${at}/item`, { name: "B" }), () => app.delete(`${at}/item`)];
  for (const change of changes) {
    await getModel(Frame).collection.updateOne({}, { $set: whole });
    assertEquals((await change()).status, 409);
    assertEquals(await getModel(Frame).collection.findOne(), { _id, __v: 0 } as never);
  }
  await getModel(Frame).collection.updateOne({}, { $set: whole });
  assertEquals((await app.delete(`${at}/ref`)).status, 409);
  assertEquals(await getModel(Note).countDocuments(), 1);
});
