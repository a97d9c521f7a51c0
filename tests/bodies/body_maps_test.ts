import { assertEquals } from "@std/assert";
import { arrayProp, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Leaf extends FrameworkModel {
  @prop()
  a?: string;
  @prop({ maxLength: 3 })
  b?: string;
}

class Box extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Map, of: String })
  words?: Map<string, unknown>;
  @prop({ type: Map, of: Leaf })
  leaves?: Map<string, unknown>;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: String, immutable: true })
  fixed?: Map<string, unknown>;
  @prop({ type: Object, immutable: true })
  firm?: object;
}

class Crate extends FrameworkModel {
  @prop({ type: Box })
  box?: Box;
}

@rest({ route: "/plain", methods: [create(), one(), update()] })
@rest({ route: "/hooked", methods: [create({ preSave: pass }), update({ preSend: pass })] })
class Holder extends FrameworkModel {
  @prop({ type: Box })
  box?: Box;
  @prop({ type: Crate })
  crate?: Crate;
  @prop({ type: Map, of: Box })
  boxes?: Map<string, unknown>;
  @rest({ route: "/list", methods: [create(), one(), update()] })
  @arrayProp({ items: Crate, embedded: true })
  list?: Crate[];
}

type Json = Record<string, unknown>;

/** Ways to a box: the path of the request, what it sends, what it shows. */
const WAYS: [name: string, wrap: (box: Json) => Json, open: (entity: Json) => unknown][] = [
  ["an object", (box) => ({ box }), ({ box }) => box],
  ["an object in an object", (box) => ({ crate: { box } }), ({ crate }) => (crate as Json).box],
  ["a Map of objects", (box) => ({ boxes: { k: box } }), ({ boxes }) => (boxes as Json).k],
];

const BOX = {
  words: { a: "1", b: "2" },
  leaves: { x: { a: "1", b: "1" }, y: { a: "1" } },
  free: { f: 1, g: { h: 1 } },
  fixed: { a: "1" },
  firm: { a: 1 },
};

/** What is in a box, without identifiers. */
function withoutIds(box: unknown): unknown {
  return JSON.parse(JSON.stringify(box, (key, value) => key === "_id" ? undefined : value));
}

for (const [name, wrap, open] of WAYS) {
  test(`update() adds, changes and removes keys of Maps inside ${name}`, async () => {
    await using app = await mount([Holder]);
    for (const route of ["/plain", "/hooked"]) {
      const { body: { _id } } = await app.post(route, wrap(BOX));
      const reply = await app.patch(
        `${route}/${_id}`,
        wrap({
          words: { a: null, b: "3", c: "4" },
          leaves: { x: { b: "2" }, y: null, z: { a: "5" } },
          free: { f: null, g: { h: 2, i: 3 } },
        }),
      );
      const expected = {
        words: { b: "3", c: "4" },
        leaves: { x: { a: "1", b: "2" }, z: { a: "5" } },
        free: { g: { h: 2, i: 3 } },
        fixed: { a: "1" },
        firm: { a: 1 },
      };
      const read = await app.get<EntityBody>(`/plain/${_id}`);
      assertEquals([reply.status, withoutIds(open(reply.body))], [200, expected]);
      assertEquals(withoutIds(open(read.body)), expected);
    }
  });

  test(`null in a new Map inside ${name} makes no key`, async () => {
    await using app = await mount([Holder]);
    for (const route of ["/plain", "/hooked"]) {
      const maps = { words: { a: null, b: "2" }, leaves: { x: null, y: { a: "1" } } };
      const expected = { words: { b: "2" }, leaves: { y: { a: "1" } } };
      const created = await app.post(route, wrap(maps));
      assertEquals([created.status, withoutIds(open(created.body))], [201, expected]);
      const { body: { _id } } = await app.post(route, wrap({}));
      const updated = await app.patch(`${route}/${_id}`, wrap(maps));
      assertEquals([updated.status, withoutIds(open(updated.body))], [200, expected]);
    }
  });

  test(`update() changes no immutable Map or free-form field inside ${name}`, async () => {
    await using app = await mount([Holder]);
    const { body: { _id } } = await app.post("/plain", wrap(BOX));
    const body = wrap({ fixed: { a: "2", b: "3" }, firm: { a: 2, b: 3 } });
    const reply = await app.patch(`/plain/${_id}`, body);
    const { fixed, firm } = open(reply.body) as Json;
    assertEquals([reply.status, fixed, firm], [200, BOX.fixed, BOX.firm]);
  });

  test(`update() runs the validators of Maps inside ${name}`, async () => {
    await using app = await mount([Holder]);
    const { body: { _id } } = await app.post("/plain", wrap(BOX));
    const body = wrap({ leaves: { x: { b: "long" }, n: { b: "long" } } });
    const reply = await app.patch<ErrorBody>(`/plain/${_id}`, body);
    const kinds = Object.values(reply.body.errors ?? {}).map(({ kind }) => kind);
    assertEquals([reply.status, kinds], [400, ["maxlength", "maxlength"]]);
  });

  test(`update() by two clients at once keeps both keys of a Map inside ${name}`, async () => {
    await using app = await mount([Holder]);
    const { body: { _id } } = await app.post("/plain", wrap(BOX));
    const keys = ["p", "q", "r", "s"];
    const replies = await Promise.all(
      keys.map((key) =>
        app.patch(`/plain/${_id}`, wrap({ words: { [key]: key }, leaves: { [key]: { a: key } } }))
      ),
    );
    const { body } = await app.get<EntityBody>(`/plain/${_id}`);
    const { words, leaves } = open(body) as Record<string, Json>;
    assertEquals(replies.map(({ status }) => status), [200, 200, 200, 200]);
    assertEquals(
      keys.map((key) => [words?.[key], key in (leaves ?? {})]),
      keys.map((key) => [
        key,
        true,
      ]),
    );
  });
}

test("update() changes a Map inside an object of an element", async () => {
  await using app = await mount([Holder]);
  const { body: { _id, list } } = await app.post("/plain", { list: [{ box: BOX }] });
  const path = `/plain/${_id}/list/${(list as EntityBody[])[0]?._id}`;
  const reply = await app.patch(path, {
    box: { words: { a: null, c: "3" }, leaves: { x: null, z: { a: "9" } } },
  });
  const expected = {
    ...BOX,
    words: { b: "2", c: "3" },
    leaves: { y: { a: "1" }, z: { a: "9" } },
  };
  const read = await app.get<EntityBody>(path);
  assertEquals([reply.status, withoutIds(read.body.box)], [200, expected]);
});
