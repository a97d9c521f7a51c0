import { assertEquals } from "@std/assert";
import {
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";

class Page extends FrameworkModel {
  @prop()
  text?: string;
}

/** Six removals that have read the page before the first of them goes on: one that comes later may not find it. */
const six = { arrived: 0, all: Promise.withResolvers<void>() };

/** What another client does to the page while it is being removed. */
async function meddle({ headers }: FrameworkRequest, page: Page): Promise<Page> {
  if (headers["x-six"] !== undefined) {
    if (++six.arrived === 6) six.all.resolve();
    await six.all.promise;
  }
  const { collection } = getModel(Page);
  const named = { _id: page._id } as never;
  if (headers["x-other"] === "changes") {
    await collection.updateOne(named, { $set: { text: "new" }, $inc: { __v: 1 } });
  } else if (headers["x-other"] === "removes") await collection.deleteOne(named);
  return page;
}

const methods = [one(), remove({ preSave: meddle })];

@rest({ route: "/binders", methods: [one()] })
class Binder extends FrameworkModel {
  @rest({ methods })
  @arrayProp({ items: Page })
  pages?: Ref<Page>[];
  @rest({ methods })
  @prop({ ref: Page })
  cover?: Ref<Page>;
}

async function store() {
  const [page, cover] = await getModel(Page).create([{ text: "old" }, { text: "old" }]);
  const binder = await getModel(Binder).create({ pages: [page?._id], cover: cover?._id } as never);
  return { path: `/binders/${binder._id}`, page: String(page?._id), cover: String(cover?._id) };
}

test("a removal that another change refuses leaves the reference where it was", async () => {
  await using app = await mount([Binder]);
  const { path, page, cover } = await store();
  const headers = { "x-other": "changes" };
  for (const part of [`${path}/pages/${page}`, `${path}/cover`]) {
    const tag = (await app.get(part)).headers.get("etag") ?? "";
    const late = await app.delete(part, { headers: { ...headers, "if-match": tag } });
    assertEquals([part, late.status], [part, 412]);
    await getModel(Page).updateMany({}, { text: "old" });
    assertEquals((await app.delete(part + asQuery({ text: "old" }), { headers })).status, 409);
  }
  const { pages, cover: held } = await app.read(path);
  assertEquals([pages, held], [[page], cover]);
});

test("a removal of what another client has removed leaves no reference", async () => {
  await using app = await mount([Binder]);
  const { path, page } = await store();
  const headers = { "x-other": "removes" };
  for (const part of [`${path}/pages/${page}`, `${path}/cover`]) {
    assertEquals((await app.delete(part, { headers })).status, 409, part);
  }
  const { pages, cover: held } = await app.read(path);
  assertEquals([pages, held], [[], undefined]);
});

test("removals at once that another change refuses leave one reference, where all others are", async () => {
  await using app = await mount([Binder]);
  const { path, page } = await store();
  const { _id: other } = await getModel(Page).create({});
  await getModel(Binder).updateMany({}, { $push: { pages: other } });
  const part = `${path}/pages/${page}`;
  const tag = (await app.get(part)).headers.get("etag") ?? "";
  const headers = { "if-match": tag, "x-other": "changes", "x-six": "true" };
  const late = await Promise.all([1, 2, 3, 4, 5, 6].map(() => app.delete(part, { headers })));
  assertEquals(late.map(({ status }) => status), late.map(() => 412));
  const { pages } = await app.read<{ pages: string[] }>(path);
  assertEquals(pages.sort(), [page, String(other)].sort());
});

test("a removal takes an identifier out that others have stored as text", async () => {
  await using app = await mount([Binder]);
  const { path, page } = await store();
  const { _id } = await getModel(Page).create({});
  const pages = [page, _id, "no identifier"];
  await getModel(Binder).collection.updateMany({}, { $set: { pages } });
  assertEquals((await app.delete(`${path}/pages/${page}`)).status, 204);
  const left = await getModel(Binder).collection.findOne({});
  assertEquals(left?.pages, [_id, "no identifier"]);
});

async function removeAllBefore(_req: unknown, page: Leaf): Promise<Leaf> {
  await getModel(Leaf).collection.deleteMany({});
  return page;
}

class Leaf extends Page {}

@rest({ route: "/folders", methods: [one()] })
class Folder extends FrameworkModel {
  @rest({ methods: [removeAll({ max: false, postFetch: removeAllBefore })] })
  @arrayProp({ items: Leaf })
  leaves?: Ref<Leaf>[];
}

test("a removal of selected entities that another client has removed removes none", async () => {
  await using app = await mount([Folder]);
  const leaf = await getModel(Leaf).create({ text: "a" });
  const { _id } = await getModel(Folder).create({ leaves: [leaf._id] } as never);
  const removed = await app.delete(`/folders/${_id}/leaves${asQuery({ text: "a" })}`);
  assertEquals([removed.status, removed.body], [204, undefined]);
});
