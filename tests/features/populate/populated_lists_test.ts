import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { pass, watchCommands } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { namesOf } from "../../support/names.ts";
import { type EntityBody, mount } from "../../support/support.ts";

class Singer extends FrameworkModel {
  @prop()
  name?: string;
}

class Track extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ ref: Singer })
  lead?: Ref<Singer>;
  @arrayProp({ items: Singer })
  singers?: Ref<Singer>[];
}

/** Stores singers; gives 50 tracks that refer to them. */
async function makeTracks() {
  const people = await getModel(Singer).insertMany([{ name: "a" }, { name: "b" }]);
  const singers = people.map(({ _id }) => _id);
  return Array.from({ length: 50 }, (_, index) => ({
    name: `t${index}`,
    lead: singers[index % 2],
    singers,
  }));
}

function assertPopulated(body: readonly object[]): void {
  assertEquals(namesOf(body), Array.from({ length: 50 }, (_, index) => `t${index}`));
  const { lead, singers } = body[1] as Record<string, unknown>;
  assertEquals((lead as EntityBody).name, "b");
  assertEquals(namesOf(singers as EntityBody[]), ["a", "b"]);
}

function withSingers(req: FrameworkRequest): boolean {
  req.framework.options.populate = ["lead", "singers"];
  return true;
}

@rest({ route: "/plain", methods: [all({ preFetch: withSingers })] })
@rest({ route: "/hooked", methods: [all({ preFetch: withSingers, postFetch: pass })] })
@rest({ route: "/lean", methods: [all({ preFetch: withSingers, postFetch: pass, lean: true })] })
@rest({ route: "/paged", methods: [all({ preFetch: withSingers, page: { max: 60 } })] })
@rest({
  route: "/paged-hooked",
  methods: [all({ preFetch: withSingers, postFetch: pass, page: { max: 60 } })],
})
@rest({
  route: "/paged-lean",
  methods: [all({ preFetch: withSingers, postFetch: pass, lean: true, page: { max: 60 } })],
})
class Song extends Track {}

const PATHS = ["plain", "hooked", "lean", "paged", "paged-hooked", "paged-lean"];

for (const path of PATHS) {
  test(`all() on /${path} populates a list of 50 by one query for each field`, async () => {
    await using app = await mount([Song]);
    await getModel(Song).insertMany(await makeTracks() as never);
    const sent = await watchCommands(app.database.uri);

    const { body } = await app.get<EntityBody[]>(`/${path}`);

    assertPopulated(body);
    assertEquals(namesOf(sent), ["find", "find", "find"]);
  });
}

@rest({ route: "/albums", methods: [one()] })
class Album extends FrameworkModel {
  @rest({ route: "/plain", methods: [all({ preFetch: withSingers })] })
  @rest({ route: "/hooked", methods: [all({ preFetch: withSingers, postFetch: pass })] })
  @rest({
    route: "/lean",
    methods: [all({ preFetch: withSingers, postFetch: pass, lean: true, page: { max: 60 } })],
  })
  @arrayProp({ items: Track, embedded: true })
  tracks?: Track[];
}

for (const path of ["plain", "hooked", "lean"]) {
  test(`all() on embedded /${path} populates 50 elements by one query for each field`, async () => {
    await using app = await mount([Album]);
    const tracks = await makeTracks();
    const { _id } = await getModel(Album).create({ tracks } as never);
    const sent = await watchCommands(app.database.uri);

    const { body } = await app.get<EntityBody[]>(`/albums/${_id}/${path}`);

    assertPopulated(body);
    assertEquals(namesOf(sent), ["find", "aggregate", "find", "find"]);
  });
}
