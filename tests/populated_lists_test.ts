import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  prop,
  type Ref,
  rest,
} from "../mod.ts";
import { pass, watchCommands } from "./both_paths.ts";
import { test } from "./harness/testing.ts";
import { type EntityBody, mount } from "./support.ts";

class Singer extends FrameworkModel {
  @prop()
  name?: string;
}

function withSingers(req: FrameworkRequest): boolean {
  req.framework.options.populate = ["lead", "singers"];
  return true;
}

@rest({ route: "/plain", methods: [all({ preFetch: withSingers })] })
@rest({ route: "/hooked", methods: [all({ preFetch: withSingers, postFetch: pass })] })
@rest({ route: "/lean", methods: [all({ preFetch: withSingers, postFetch: pass, lean: true })] })
class Song extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ ref: Singer })
  lead?: Ref<Singer>;
  @arrayProp({ items: Singer })
  singers?: Ref<Singer>[];
}

for (const path of ["plain", "hooked", "lean"]) {
  test(`all() on /${path} populates a list of 50 by one query for each field`, async () => {
    await using app = await mount([Song]);
    const people = await getModel(Singer).insertMany([{ name: "a" }, { name: "b" }]);
    const ids = people.map(({ _id }) => _id);
    const songs = Array.from({ length: 50 }, (_, index) => ({
      name: `s${index}`,
      lead: ids[index % 2],
      singers: ids,
    }));
    await getModel(Song).insertMany(songs as never);
    const sent = await watchCommands(app.database.uri);

    const { body } = await app.get<EntityBody[]>(`/${path}`);

    assertEquals(body.map(({ name }) => name), songs.map(({ name }) => name));
    const { lead, singers } = body[1] as Record<string, unknown>;
    assertEquals((lead as EntityBody).name, "b");
    assertEquals((singers as EntityBody[]).map(({ name }) => name), ["a", "b"]);
    assertEquals(sent.map(({ name }) => name), ["find", "find", "find"]);
  });
}
