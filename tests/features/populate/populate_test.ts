import { assertEquals } from "@std/assert";
import { getModel } from "../../../mod.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { PATHS, Poet, put, Singer, Song } from "../../fixtures/songs.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, mount, NOBODY } from "../../support/support.ts";

const NAMED = "populate=lead,singers,poet";

/** Stores singers, a poet and songs. */
async function store() {
  const [ann = "", bob = ""] = await put(
    Singer,
    { name: "Ann", born: 1950, phone: "secret", notes: "private" },
    { name: "Bob", phone: "secret" },
  );
  const [poet = ""] = await put(Poet, { name: "Eve", phone: "secret" });
  const [first = "", second = ""] = await put(
    Song,
    { name: "first", lead: ann, singers: [bob, ann, bob], poet },
    { name: "second", lead: NOBODY, singers: [NOBODY, ann] },
  );
  await getModel(Singer).updateOne({ _id: ann }, { teacher: bob });
  const shownAnn = { _id: ann, name: "Ann", born: 1950, teacher: bob, __v: 0 };
  const shownBob = { _id: bob, name: "Bob", __v: 0 };
  return {
    ids: [first, second] as const,
    first: {
      ...{ _id: first, name: "first", __v: 0, poet: { _id: poet, name: "*Eve" } },
      ...{ lead: shownAnn, singers: [shownBob, shownAnn, shownBob] },
    },
    second: { _id: second, name: "second", __v: 0, lead: null, singers: [shownAnn] },
    bare: [
      { _id: first, name: "first", __v: 0, lead: ann, singers: [bob, ann, bob], poet },
      { _id: second, name: "second", __v: 0, lead: NOBODY, singers: [NOBODY, ann] },
    ],
  };
}

for (const path of PATHS) {
  test(`${path} shows what its references name, where the client asks for it`, async () => {
    await using app = await mount([Song]);
    const { ids, first, second, bare } = await store();
    assertEquals(await app.read<unknown>(`${path}?${NAMED}`), [first, second]);
    assertEquals(await app.read<unknown>(path), bare);
    assertEquals(await app.read<unknown>(`${path}/${ids[0]}?${NAMED}`), first);
    assertEquals(await app.read<unknown>(`${path}/${ids[1]}?${NAMED}`), second);
    const { lead, ...others } = await app.read(`${path}/${ids[0]}?populate=lead`);
    assertEquals([lead, others.poet], [first.lead, bare[0]?.poet]);
  });

  test(`${path} shows what is selected and populated`, async () => {
    await using app = await mount([Song]);
    const { ids: [_id], first: { lead } } = await store();
    const selected = await app.read<EntityBody[]>(`${path}?select=lead&populate=lead,poet&limit=1`);
    assertEquals<unknown>(selected, [{ _id, lead }]);
    const [other] = await app.read<EntityBody[]>(`${path}?select=name&populate=lead&limit=1`);
    assertEquals<unknown>(other, { _id, name: "first" });
  });
}

for (const path of [...PATHS, "/whole", "/whole-hooked"]) {
  test(`${path} asks once for each field, and for nothing where no reference holds anything`, async () => {
    await using app = await mount([Song]);
    const [ann, bob] = await put(Singer, { name: "Ann" }, { name: "Bob" });
    const songs = Array.from({ length: 40 }, (_, index) => ({
      name: `s${index}`,
      lead: [ann, bob, NOBODY][index % 3],
      singers: [ann, bob, ann],
    }));
    await put(Song, ...songs);
    const sent = await watchCommands(app.database.uri);

    const body = await app.read<EntityBody[]>(`${path}?${NAMED}`);

    assertEquals(body.length, 40);
    const finds = sent.map(({ name, command }) => `${name} ${command.find}`);
    assertEquals(finds.sort(), ["find singers", "find singers", "find songs"]);
  });
}
