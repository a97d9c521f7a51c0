import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  type HooksOf,
  type Method,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { type Client, client } from "../support/client.ts";
import { Book, Note, putBook } from "../fixtures/library.ts";
import { SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Nameless extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
}

/** An operation whose hooks fit any model. */
type AnyMethod = Method<HooksOf<FrameworkModel>>;

/** Asserts that a model cannot be mounted, and that the message names all that helps. */
function assertRefused(model: ModelClass, ...words: string[]): void {
  const error = assertThrows(() => Framework.initialize({ models: [model] }), TypeError);
  for (const word of [...words, model.name]) assert(error.message.includes(word), error.message);
}

test("initialize() refuses a part whose parent has no one()", () => {
  @rest({ route: "/a", methods: [all(), create()] })
  class Listed extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  assertRefused(Listed, `"notes"`, "one()");
});

test("initialize() refuses a nested part that no route reaches", () => {
  class Middle extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  @rest({ route: "/a", methods: [one()] })
  class Outer extends FrameworkModel {
    @rest({ methods: [all(), create()] })
    @arrayProp({ items: Middle, embedded: true })
    middles?: Middle[];
  }
  const error = assertThrows(() => Framework.initialize({ models: [Outer] }), TypeError);
  for (const word of [`"Middle"`, `"notes"`, "one()"]) assert(error.message.includes(word));
});

test("initialize() mounts a nested part under those of its parents that have one()", async () => {
  class Inner extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  @rest({ route: "/folders", methods: [one()] })
  class Folder extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Inner, embedded: true })
    listed?: Inner[];
    @rest({ methods: [one()] })
    @prop({ type: Inner })
    single?: Inner;
  }
  await using app = await mount([Folder]);
  const inner = { notes: [{ name: "T" }] };
  const folder = await getModel(Folder).create({ listed: [inner], single: inner } as never);
  const { _id, listed } = folder as Folder;
  const at = `/folders/${_id}`;
  assertEquals((await app.get<EntityBody[]>(`${at}/single/notes`)).body[0]?.name, "T");
  const missing = await app.get(`${at}/listed/${listed?.[0]?._id}/notes`);
  assertEquals([missing.status, missing.text.includes("Cannot GET")], [404, true]);
});

test("a parent on two routes has its parts under the one that has one()", async () => {
  @rest({ route: "/open", methods: [one()] })
  @rest({ route: "/listed", methods: [all()] })
  class Paper extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  await using app = await mount([Paper]);
  const { _id } = await getModel(Paper).create({ notes: [{ name: "T" }] } as never) as Paper;
  assertEquals((await app.get<EntityBody[]>(`/open/${_id}/notes`)).body.length, 1);
  const missing = await app.get(`/listed/${_id}/notes`);
  assertEquals([missing.status, missing.text.includes("Cannot GET")], [404, true]);
});

test("initialize() takes a part that is reached through the route of its own model", async () => {
  @rest({ route: "/agents", methods: [one()] })
  class Agent extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  @rest({ route: "/offices", methods: [one()] })
  class Office extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Agent })
    agents?: Ref<Agent>[];
  }
  await using app = await mount([Office]);
  const { _id } = await getModel(Office).create({});
  assertEquals((await app.get(`/offices/${_id}/agents`)).text, "[]");
});

test("initialize() refuses a part on a field that holds no model", () => {
  @rest({ route: "/a", methods: [one()] })
  class Text extends FrameworkModel {
    @rest({ methods: [one()] })
    @prop()
    title?: string;
  }
  @rest({ route: "/a", methods: [one()] })
  class Tags extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: String })
    tags?: string[];
  }
  @rest({ route: "/a", methods: [one()] })
  class Mapped extends FrameworkModel {
    @rest({ methods: [all()] })
    @prop({ type: Map, of: Note })
    notes?: Map<string, unknown>;
  }
  @rest({ route: "/a", methods: [one()] })
  class Bare extends FrameworkModel {
    @rest({ methods: [one()] })
    note?: Note;
  }
  assertRefused(Text, `"title"`);
  assertRefused(Tags, `"tags"`);
  assertRefused(Mapped, `"notes"`);
  assertRefused(Bare, `"note"`);
});

test("initialize() refuses a part that is hidden", () => {
  @rest({ route: "/a", methods: [one()] })
  class Secretive extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Note, embedded: true, hidden: true })
    notes?: Note[];
  }
  assertRefused(Secretive, `"notes"`, "hidden");
});

test("initialize() refuses operations that the kind of a property cannot have", () => {
  for (const many of [all(), removeAll()]) {
    @rest({ route: "/a", methods: [one()] })
    class Single extends FrameworkModel {
      @rest({ methods: [one(), many] })
      @prop({ type: Note })
      note?: Note;
    }
    @rest({ route: "/a", methods: [one()] })
    class SingleRef extends FrameworkModel {
      @rest({ methods: [many] })
      @prop({ ref: Note })
      note?: Ref<Note>;
    }
    assertRefused(Single, `"note"`, `${many.operation}()`);
    assertRefused(SingleRef, `"note"`, `${many.operation}()`);
  }
});

test("initialize() refuses to name elements without _id, and lists them", () => {
  function build(method: AnyMethod): ModelClass {
    @rest({ route: "/a", methods: [one()] })
    class Anonymous extends FrameworkModel {
      @rest({ methods: [method] })
      @arrayProp({ items: Nameless, embedded: true })
      parts?: Nameless[];
    }
    return Anonymous;
  }
  for (const method of [one(), create(), update(), remove(), removeAll()]) {
    assertRefused(build(method), `"parts"`, `${method.operation}()`, "_id");
  }
  const routes = Framework.initialize({ models: [build(all())] }).describe();
  assertEquals(routes.map(({ path }) => path), ["/a/:id", "/a/:id/parts"]);
});

test("initialize() refuses methods of a part that are none, twice, or taken", () => {
  function build(...methods: AnyMethod[]): ModelClass {
    @rest({ route: "/a", methods: [one()] })
    class Wrong extends FrameworkModel {
      @rest({ methods })
      @arrayProp({ items: Note, embedded: true })
      notes?: Note[];
    }
    return Wrong;
  }
  @rest({ route: "/a", methods: [one()] })
  class Clash extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
    @rest({ methods: [all()], route: "/notes" })
    @arrayProp({ items: Note })
    others?: Ref<Note>[];
  }
  assertRefused(build(), `"methods"`, `"notes"`);
  assertRefused(build({} as never), `"methods"`, `"notes"`);
  assertRefused(build(all(), all()), "/a/:id/notes");
  assertRefused(build(one({ afterwards: () => true } as never)), "afterwards", `"notes"`);
  assertRefused(build(one({ preSend: 1 } as never)), "preSend", `"notes"`);
  assertRefused(Clash, "/a/:id/notes");
});

test("initialize() refuses the route of a part that is no plain path", () => {
  for (const route of ["notes", "/", "/:id", "/a*", ""]) {
    @rest({ route: "/a", methods: [one()] })
    class Routed extends FrameworkModel {
      @rest({ methods: [all()], route })
      @arrayProp({ items: Note, embedded: true })
      notes?: Note[];
    }
    assertRefused(Routed, `"notes"`, `"${route}"`);
  }
});

/** The problems of a body, by path. */
async function problems(
  { send }: Client,
  [method, path]: readonly [method: string, path: string],
  body: object,
): Promise<[number, object]> {
  const reply = await send<ErrorBody>(method, path, { body });
  const kinds = Object.entries(reply.body.errors ?? {}).map(([field, { kind }]) => [field, kind]);
  return [reply.status, Object.fromEntries(kinds)];
}

test("BAD_DATA names the path of an embedded element, from what was sent to", async () => {
  await using app = await mount([Book]);
  const book = await putBook(app, { chapters: [{ name: "C" }] });
  const [list, item] = [["POST", "/chapters"], ["PATCH", `/chapters/${book.ids[0]}`]] as const;
  const notes = [{ name: "a" }, { stars: 0 }];
  const wrong = { "notes.1.name": "required", "notes.1.stars": "min" };
  assertEquals(await problems(book, list, { notes }), [400, { name: "required", ...wrong }]);
  assertEquals(await problems(book, item, { notes }), [400, wrong]);
  assertEquals(await problems(book, item, { motto: {} }), [400, { "motto.name": "required" }]);
  const uncast = { notes: [{ name: "a", stars: "x" }], motto: 5 };
  const kinds = { "notes.0.stars": "Number", motto: "Object" };
  assertEquals(await problems(book, item, uncast), [400, kinds]);
  const chapters = [{ name: "A" }, { notes: [{ stars: 1 }] }];
  const paths = { "chapters.1.name": "required", "chapters.1.notes.0.name": "required" };
  const whole = { name: "A", chapters };
  assertEquals(await problems(app, ["POST", "/books"], whole), [400, paths]);
  assertEquals(await problems(book, ["PATCH", ""], whole), [400, paths]);
});

test("bodies of parts are refused as those of roots are", async () => {
  await using app = await mount([Book]);
  const { ids, send, stored } = await putBook(app, { chapters: [{ name: "C" }] });
  for (const [method, path] of [["POST", ""], ["PATCH", `/${ids[0]}`]] as const) {
    const refused = async (options: object) => {
      const { status, body } = await send<ErrorBody>(method, `/chapters${path}`, options);
      return [status, body.code];
    };
    const text = { raw: "name=A", headers: { "content-type": "text/plain" } };
    assertEquals(await refused(text), [415, "UNSUPPORTED_MEDIA_TYPE"]);
    assertEquals(await refused({}), [400, "BAD_FORMAT"]);
    const broken = { raw: "{", headers: { "content-type": "application/json" } };
    assertEquals(await refused(broken), [400, "BAD_FORMAT"]);
  }
  assertEquals((await stored()).__v, 0);
});

test("a part of a model that is strict refuses undeclared fields", async () => {
  class Form extends FrameworkModel {
    static override schemaOptions = { strict: "throw" as const };
    @prop()
    name?: string;
  }
  @rest({ route: "/desks", methods: [one()] })
  class Desk extends FrameworkModel {
    @rest({ methods: SIX })
    @arrayProp({ items: Form, embedded: true })
    forms?: Form[];
  }
  await using app = await mount([Desk]);
  const { _id } = await getModel(Desk).create({});
  const forms = client(`${app.url}/desks/${_id}/forms`);
  const given = { name: "A", other: 1 };
  assertEquals(await problems(forms, ["POST", ""], given), [400, { other: "strict" }]);
  assertEquals((await forms.post("", { name: "A" })).status, 201);
});

test("an unexpected error of a part is 500, tells nothing, and goes to onError", async () => {
  @rest({ route: "/wells", methods: [one()] })
  class Well extends FrameworkModel {
    @rest({
      methods: [all<Note>({
        postFetch: () => {
          throw new Error("a detail");
        },
      })],
    })
    @arrayProp({ items: Note, embedded: true, apart: false })
    notes?: Note[];
  }
  const seen: unknown[] = [];
  const onError = (_req: unknown, error: unknown) =>
    seen.push((error as Error).message) > 1 ? new RestError(502, "known") : new RestError(500, {});
  await using app = await mount([Well], { onError });
  const { _id } = await getModel(Well).create({ notes: [{ name: "T" }] } as never) as Well;
  const reply = await app.get(`/wells/${_id}/notes`);
  assertEquals([reply.status, reply.text, seen], [500, "{}", ["a detail"]]);
  assertEquals((await app.get(`/wells/${_id}/notes`)).status, 502);
});

test("a unique value inside embedded documents is 409 when another parent has it", async () => {
  class Key extends FrameworkModel {
    @prop({ unique: true, sparse: true })
    code?: string;
  }
  @rest({ route: "/rings", methods: [one()] })
  class Ring extends FrameworkModel {
    @rest({ methods: SIX })
    @arrayProp({ items: Key, embedded: true })
    keys?: Key[];
  }
  await using app = await mount([Ring]);
  await getModel(Ring).init();
  await getModel(Ring).create({ keys: [{ code: "A" }] } as never);
  const { _id } = await getModel(Ring).create({ keys: [{ code: "B" }] } as never) as Ring;
  const reply = await app.post<ErrorBody>(`/rings/${_id}/keys`, { code: "A" });
  assertEquals([reply.status, reply.body.code], [409, "CONFLICT"]);
  assertEquals(reply.body.fields, ["keys.code"]);
});
