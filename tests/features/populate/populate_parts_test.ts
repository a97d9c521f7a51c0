import { assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, one, prop, type Ref, rest } from "../../../mod.ts";
import { pass, watchCommands } from "../../support/both_paths.ts";
import { Poet, put, Singer } from "../../fixtures/songs.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, mount, NOBODY } from "../../support/support.ts";

const POPULATE = { lead: true, singers: { select: ["name"] } } as const;
const PLAIN = [all({ populate: POPULATE, page: { max: 9 } }), one({ populate: POPULATE })];
const HOOKED = [
  all({ populate: POPULATE, page: { max: 9 }, postFetch: pass }),
  one({ populate: POPULATE, preSend: pass }),
];

class Part extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ ref: Singer })
  lead?: Ref<Singer>;
  @arrayProp({ items: Singer })
  singers?: Ref<Singer>[];
}

class Track extends Part {}
class Bonus extends Part {}

class Box extends FrameworkModel {
  @rest({ route: "/tracks", methods: PLAIN })
  @rest({ route: "/hooked", methods: HOOKED })
  @arrayProp({ items: Track, embedded: true })
  tracks?: Track[];
}

@rest({ route: "/albums", methods: [one({ populate: { poet: { always: true } } })] })
class Album extends FrameworkModel {
  @prop({ ref: Poet })
  poet?: Ref<Poet>;
  @rest({ route: "/tracks", methods: PLAIN })
  @rest({ route: "/hooked", methods: HOOKED })
  @arrayProp({ items: Track, embedded: true })
  tracks?: Track[];
  @rest({ route: "/first", methods: [one({ populate: POPULATE })] })
  @prop({ type: Track })
  first?: Track;
  @rest({ route: "/bonus", methods: PLAIN })
  @rest({ route: "/bonus-hooked", methods: HOOKED })
  @arrayProp({ items: Bonus })
  bonus?: Ref<Bonus>[];
  @rest({ route: "/box", methods: [one()] })
  @prop({ type: Box })
  box?: Box;
}

/** Stores an album that holds the same parts in every way. */
async function store() {
  const [ann = "", bob = ""] = await put(
    Singer,
    { name: "Ann", phone: "secret" },
    { name: "Bob", phone: "secret" },
  );
  const parts = [
    { _id: "0".repeat(24), name: "a", lead: ann, singers: [bob, NOBODY, ann] },
    { _id: "1".repeat(24), name: "b", lead: NOBODY, singers: [] },
  ];
  await put(Bonus, ...parts);
  const [album = ""] = await put(Album, {
    ...{ tracks: parts, first: parts[0], box: { tracks: parts } },
    bonus: parts.map(({ _id }) => _id),
    poet: (await put(Poet, { name: "Eve" }))[0],
  });
  const lead = { _id: ann, name: "Ann", __v: 0 };
  const singers = [{ _id: bob, name: "Bob" }, { _id: ann, name: "Ann" }];
  const shown = [{ ...parts[0], lead, singers }, { ...parts[1], lead: null }];
  return { url: `/albums/${album}`, parts, shown };
}

/** Leaves out the versions of parts that have a collection. */
function unversioned({ __v: _, ...others }: EntityBody): object {
  return others;
}

for (
  const path of ["/tracks", "/hooked", "/bonus", "/bonus-hooked", "/box/tracks", "/box/hooked"]
) {
  test(`sub-route ${path} shows what its references name`, async () => {
    await using app = await mount([Album]);
    const { url, shown, parts } = await store();
    const sent = await watchCommands(app.database.uri);
    const all = await app.read<EntityBody[]>(`${url}${path}?populate=lead,singers`);
    assertEquals(all.map(unversioned), shown);
    const singers = sent.filter(({ command }) => command.find === "singers");
    assertEquals(singers.length, 2);
    assertEquals((await app.read<EntityBody[]>(`${url}${path}`)).map(unversioned), parts);
    const single = await app.read(`${url}${path}/${parts[0]?._id}?populate=lead,singers`);
    assertEquals(unversioned(single), shown[0]);
    const [second] = await app.read<EntityBody[]>(`${url}${path}?populate=lead&skip=1`);
    assertEquals(second?.lead, null);
  });
}

test("the only part, and the parent beside it, show what their references name", async () => {
  await using app = await mount([Album]);
  const { url, shown } = await store();
  assertEquals(await app.read<unknown>(`${url}/first?populate=lead,singers`), shown[0]);
  assertEquals(((await app.read(url)).poet as EntityBody).title, "Poet *Eve");
});
