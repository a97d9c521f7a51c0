import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { at, declareId } from "../fixtures/id_kinds.ts";
import { importTable } from "../features/lines/csv.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import {
  asQuery,
  type EntityBody,
  mount,
  type Mounted,
  type MountOptions,
} from "../support/support.ts";
import { onlyStrict } from "../support/only_strict.ts";

const { UUID } = mongoose.Types;

/** UUIDs that are not of the variant of RFC 9562, or have no version. */
const ODD = [
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "0f8fad5b-d9cb-469f-c165-708677289501",
  "0f8fad5b-d9cb-469f-7165-708677289501",
  "0f8fad5b-d9cb-f69f-a165-708677289501",
];

const OTHER = "0f8fad5b-d9cb-469f-a165-708677289500";

class Inner extends FrameworkModel {
  @prop({ type: UUID, required: true })
  key!: mongoose.Types.UUID;
  @arrayProp({ items: UUID })
  keys?: mongoose.Types.UUID[];
}

async function serve(options: MountOptions = {}) {
  const methods = [one(), update(), replace(), remove()];
  @rest({
    route: "/owners",
    methods: [...methods, all(), create({ many: 9, atomic: false, formats: ["csv"] })],
  })
  @rest({
    route: "/hooked",
    methods: [
      all({ postFetch: pass }),
      one({ postFetch: pass }),
      create({ preSave: pass }),
      update({ preSave: pass }),
      replace({ preSave: pass }),
      remove({ postFetch: pass }),
    ],
  })
  class Owner extends FrameworkModel {
    @prop({ type: UUID, required: true })
    key!: mongoose.Types.UUID;
    @prop({ type: Inner })
    inner?: Inner;
    @rest({ methods: [all(), one(), create(), update(), remove()] })
    @arrayProp({ items: Inner, embedded: true })
    parts?: Inner[];
    static override configure(schema: Schema): void {
      declareId(schema, mongoose.Schema.Types.UUID);
    }
  }
  @rest({ route: "/pets", methods: [all({ populate: { owner: {} } }), create()] })
  class Pet extends FrameworkModel {
    @prop({ ref: Owner, exists: true, unguarded: true })
    owner?: Ref<Owner>;
  }
  return { app: await mount([Owner, Pet], options), Owner };
}

async function passThrough(app: Mounted, route: string, key: string) {
  const path = at(route, key);
  const sent = { _id: key, key, inner: { key, keys: [key] } };
  const made = await app.post(route, sent);
  assertEquals(made.status, 201, made.text);
  const shown = await app.read<typeof sent>(path);
  assertEquals([shown._id, shown.key, shown.inner.keys], [key, key, [key]]);
  assertEquals((await app.patch(path, { key, inner: { keys: [] } })).status, 200);
  const q = { _id: key, key: { $in: [key] }, "inner.key": { $ne: OTHER } };
  const [first] = await app.read<EntityBody[]>(`${route}${asQuery(q)}`);
  assertEquals(first?._id, key);
  const pet = await app.post("/pets", { owner: key });
  assertEquals([pet.status, pet.body.owner], [201, key], pet.text);
  const list = `/pets${asQuery({ owner: key })}&populate=owner`;
  const [shownPet] = await app.read<{ owner: EntityBody }[]>(list);
  assertEquals(shownPet?.owner._id, key);
  const part = await app.post(`${path}/parts`, { key, keys: [key] });
  assertEquals(part.status, 201, part.text);
  assertEquals((await app.put(path, { key })).status, 200);
  assertEquals((await app.delete(path)).status, 204);
  assertEquals((await app.put(path, { key })).status, 201);
  const upper = await app.get(at(route, key.toUpperCase()));
  assertEquals(upper.status, key === key.toUpperCase() ? 200 : 404);
}

test("a UUID of any variant and version is taken everywhere", async () => {
  for (const bodies of ["strict", undefined] as const) {
    const { app: opened, Owner } = await serve({ ...bodies && { strict: onlyStrict("bodies") } });
    await using app = opened;
    for (const key of ODD) {
      for (const route of ["/owners", "/hooked"]) {
        await passThrough(app, route, key);
        const stored = await getModel(Owner).collection.findOne();
        assertEquals([stored?._id, stored?.key].map((each) => each instanceof UUID), [true, true]);
        assertEquals((await app.delete(at(route, key))).status, 204);
      }
    }
    const raw = `_id,key\n${ODD.map((each) => `${each},${each}`).join("\n")}\n`;
    const fates = await importTable(app, "/owners", { raw });
    assertEquals(fates.map(({ status }) => status), ODD.map(() => 201));
    for (const key of ["", "a", ODD[0]?.replaceAll("-", "g"), `${ODD[0]}0`]) {
      assertEquals((await app.post("/owners", { _id: key, key })).status, 400);
    }
  }
});
