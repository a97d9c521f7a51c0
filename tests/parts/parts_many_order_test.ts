import { assertEquals } from "@std/assert";
import { all, arrayProp, create, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

class Item extends FrameworkModel {
  @prop()
  name?: string;
}

const many = { many: 50, atomic: false, formats: ["ndjson"] } as const;

@rest({ route: "/lists", methods: [one()] })
class List extends FrameworkModel {
  @arrayProp({ items: Item, embedded: true })
  @rest({ route: "/plain", methods: [all(), create(many)] })
  @rest({ route: "/hooked", methods: [all(), create({ ...many, preSave: pass })] })
  items!: Item[];
}

const NAMES = Array.from({ length: 40 }, (_, index) => String(index));

test("a parent embeds what a request creates in the order of its array or its lines", async () => {
  await using app = await mount([List]);
  const bodies = NAMES.map((name) => ({ name }));
  for (const route of ["plain", "hooked"]) {
    const { _id } = await getModel(List).create({});
    const path = `/lists/${_id}/${route}`;
    assertEquals((await app.post(path, bodies)).status, 207);
    const lines = await fetch(new URL(path, app.url), {
      method: "POST",
      headers: { "Content-Type": "application/x-ndjson" },
      body: bodies.map((body) => JSON.stringify(body)).join("\n"),
    });
    assertEquals((await lines.text()).match(/"status":201/g)?.length, NAMES.length);
    const items = await app.read<EntityBody[]>(path);
    assertEquals(items.map(({ name }) => name), [...NAMES, ...NAMES]);
  }
});
