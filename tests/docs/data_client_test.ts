import { assertEquals, assertObjectMatch } from "@std/assert";
import { createResource, Entity } from "npm:@data-client/rest@^0.9";
import {
  all,
  create,
  FrameworkModel,
  one,
  prop,
  remove,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

@rest({
  route: "/films",
  methods: [all({ sort: ["year"] }), one(), create(), update(), replace(), remove()],
})
class Film extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ type: Number })
  year?: number;
}

/** The film of the client. */
class FilmEntity extends Entity {
  readonly _id = "";
  readonly title: string = "";
  readonly year?: number;
  override pk(): string {
    return this._id;
  }
}

test("@data-client/rest lists, creates, replaces, changes and removes without an adapter", async () => {
  await using app = await mount([Film]);
  const films = createResource({ urlPrefix: app.url, path: "/films/:id", schema: FilmEntity });
  const made = await films.create({ title: "Alien", year: 1978 }) as { _id: string };
  const id = { id: made._id };
  const { year: _year, ...whole } = await films.get(id) as Record<string, unknown>;
  const replaced = await films.update(id, { ...whole, title: "Aliens" });
  assertObjectMatch(replaced, { title: "Aliens", _id: made._id });
  assertEquals("year" in replaced, false);
  assertObjectMatch(await films.partialUpdate(id, { year: 1986 }), { title: "Aliens", year: 1986 });
  assertEquals((await films.getList() as unknown[]).length, 1);
  await films.delete(id);
  assertEquals(await films.getList(), []);
});
