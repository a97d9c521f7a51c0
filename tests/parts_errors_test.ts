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
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "./support.ts";

class Page extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ type: Number, min: 1 })
  number?: number;
}

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
    @arrayProp({ items: Page, embedded: true })
    pages?: Page[];
  }
  assertRefused(Listed, `"pages"`, "one()");
});

test("initialize() refuses a nested part that no route reaches", () => {
  class Middle extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Page, embedded: true })
    pages?: Page[];
  }
  @rest({ route: "/a", methods: [one()] })
  class Outer extends FrameworkModel {
    @rest({ methods: [all(), create()] })
    @arrayProp({ items: Middle, embedded: true })
    middles?: Middle[];
  }
  const error = assertThrows(() => Framework.initialize({ models: [Outer] }), TypeError);
  for (const word of [`"Middle"`, `"pages"`, "one()"]) assert(error.message.includes(word));
});

test("initialize() mounts a nested part under those of its parents that have one()", async () => {
  class Inner extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Page, embedded: true })
    pages?: Page[];
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
  const inner = { pages: [{ text: "T" }] };
  const folder = await getModel(Folder).create({ listed: [inner], single: inner } as never);
  const { _id, listed } = folder as Folder;
  const at = `${app.url}/folders/${_id}`;
  assertEquals((await request<EntityBody[]>(`${at}/single/pages`)).body[0]?.text, "T");
  const missing = await request(`${at}/listed/${listed?.[0]?._id}/pages`);
  assertEquals([missing.status, missing.text.includes("Cannot GET")], [404, true]);
});

test("a parent on two routes has its parts under the one that has one()", async () => {
  @rest({ route: "/open", methods: [one()] })
  @rest({ route: "/listed", methods: [all()] })
  class Paper extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Page, embedded: true })
    pages?: Page[];
  }
  await using app = await mount([Paper]);
  const { _id } = await getModel(Paper).create({ pages: [{ text: "T" }] } as never) as Paper;
  assertEquals((await request<EntityBody[]>(`${app.url}/open/${_id}/pages`)).body.length, 1);
  const missing = await request(`${app.url}/listed/${_id}/pages`);
  assertEquals([missing.status, missing.text.includes("Cannot GET")], [404, true]);
});

test("initialize() takes a part that is reached through the route of its own model", async () => {
  @rest({ route: "/agents", methods: [one()] })
  class Agent extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Page, embedded: true })
    pages?: Page[];
  }
  @rest({ route: "/offices", methods: [one()] })
  class Office extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Agent })
    agents?: Ref<Agent>[];
  }
  await using app = await mount([Office]);
  const { _id } = await getModel(Office).create({});
  assertEquals((await request(`${app.url}/offices/${_id}/agents`)).text, "[]");
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
    @prop({ type: Map, of: Page })
    pages?: Map<string, unknown>;
  }
  @rest({ route: "/a", methods: [one()] })
  class Bare extends FrameworkModel {
    @rest({ methods: [one()] })
    page?: Page;
  }
  assertRefused(Text, `"title"`);
  assertRefused(Tags, `"tags"`);
  assertRefused(Mapped, `"pages"`);
  assertRefused(Bare, `"page"`);
});

test("initialize() refuses a part that is hidden", () => {
  @rest({ route: "/a", methods: [one()] })
  class Secretive extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Page, embedded: true, hidden: true })
    pages?: Page[];
  }
  assertRefused(Secretive, `"pages"`, "hidden");
});

test("initialize() refuses operations that the kind of a property cannot have", () => {
  for (const many of [all(), removeAll()]) {
    @rest({ route: "/a", methods: [one()] })
    class Single extends FrameworkModel {
      @rest({ methods: [one(), many] })
      @prop({ type: Page })
      page?: Page;
    }
    @rest({ route: "/a", methods: [one()] })
    class SingleRef extends FrameworkModel {
      @rest({ methods: [many] })
      @prop({ ref: Page })
      page?: Ref<Page>;
    }
    assertRefused(Single, `"page"`, `${many.operation}()`);
    assertRefused(SingleRef, `"page"`, `${many.operation}()`);
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
  const { stack } = Framework.initialize({ models: [build(all())] });
  assertEquals(stack.filter(({ route }) => route !== undefined).length, 2);
});

test("initialize() refuses methods of a part that are none, twice, or taken", () => {
  function build(...methods: AnyMethod[]): ModelClass {
    @rest({ route: "/a", methods: [one()] })
    class Wrong extends FrameworkModel {
      @rest({ methods })
      @arrayProp({ items: Page, embedded: true })
      pages?: Page[];
    }
    return Wrong;
  }
  @rest({ route: "/a", methods: [one()] })
  class Clash extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Page, embedded: true })
    pages?: Page[];
    @rest({ methods: [all()], route: "/pages" })
    @arrayProp({ items: Page })
    others?: Ref<Page>[];
  }
  assertRefused(build(), `"methods"`, `"pages"`);
  assertRefused(build({} as never), `"methods"`, `"pages"`);
  assertRefused(build(all(), all()), "/a/:id/pages");
  assertRefused(build(one({ afterwards: () => true } as never)), "afterwards", `"pages"`);
  assertRefused(build(one({ preSend: 1 } as never)), "preSend", `"pages"`);
  assertRefused(Clash, "/a/:id/pages");
});

test("initialize() refuses the route of a part that is no plain path", () => {
  for (const route of ["pages", "/", "/:id", "/a*", ""]) {
    @rest({ route: "/a", methods: [one()] })
    class Routed extends FrameworkModel {
      @rest({ methods: [all()], route })
      @arrayProp({ items: Page, embedded: true })
      pages?: Page[];
    }
    assertRefused(Routed, `"pages"`, `"${route}"`);
  }
});

class Chapter extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
  @prop({ type: Page })
  cover?: Page;
}

const SIX = [all(), one(), create(), update(), remove(), removeAll()];

@rest({ route: "/books", methods: SIX })
class Book extends FrameworkModel {
  @prop()
  title?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Chapter, embedded: true })
  chapters?: Chapter[];
}

/** The problems of a body, by path. */
async function problems(url: string, method: string, body: unknown): Promise<[number, object]> {
  const reply = await request<ErrorBody>(url, { method, body });
  const kinds = Object.entries(reply.body.errors ?? {}).map(([path, { kind }]) => [path, kind]);
  return [reply.status, Object.fromEntries(kinds)];
}

test("BAD_DATA names the path of an embedded element, from what was sent to", async () => {
  await using app = await mount([Book]);
  const book = await getModel(Book).create({ chapters: [{ title: "C" }] } as never) as Book;
  const books = `${app.url}/books`;
  const chapters = `${books}/${book._id}/chapters`;
  const item = `${chapters}/${book.chapters?.[0]?._id}`;
  const pages = [{ text: "a" }, { number: 0 }];
  const wrong = { "pages.1.text": "required", "pages.1.number": "min" };
  assertEquals(await problems(chapters, "POST", { pages }), [400, { title: "required", ...wrong }]);
  assertEquals(await problems(item, "PATCH", { pages }), [400, wrong]);
  assertEquals(await problems(item, "PATCH", { cover: {} }), [400, { "cover.text": "required" }]);
  const uncast = { pages: [{ text: "a", number: "x" }], cover: 5 };
  const kinds = { "pages.0.number": "Number", cover: "Object" };
  assertEquals(await problems(item, "PATCH", uncast), [400, kinds]);
  const whole = { chapters: [{ title: "A" }, { pages: [{ number: 1 }] }] };
  const paths = { "chapters.1.title": "required", "chapters.1.pages.0.text": "required" };
  assertEquals(await problems(books, "POST", whole), [400, paths]);
  assertEquals(await problems(`${books}/${book._id}`, "PATCH", whole), [400, paths]);
});

test("bodies of parts are refused as those of roots are", async () => {
  await using app = await mount([Book]);
  const book = await getModel(Book).create({ chapters: [{ title: "C" }] } as never) as Book;
  const url = `${app.url}/books/${book._id}/chapters`;
  const targets = [[url, "POST"], [`${url}/${book.chapters?.[0]?._id}`, "PATCH"]] as const;
  for (const [target, method] of targets) {
    const text = { "content-type": "text/plain" };
    const typed = await request<ErrorBody>(target, { method, raw: "title=A", headers: text });
    assertEquals([typed.status, typed.body.code], [415, "UNSUPPORTED_MEDIA_TYPE"]);
    const none = await request<ErrorBody>(target, { method });
    assertEquals([none.status, none.body.code], [400, "BAD_FORMAT"]);
    const json = { "content-type": "application/json" };
    const broken = await request<ErrorBody>(target, { method, raw: "{", headers: json });
    assertEquals([broken.status, broken.body.code], [400, "BAD_FORMAT"]);
  }
  assertEquals((await getModel(Book).findById(book._id))?.__v, 0);
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
  const url = `${app.url}/desks/${_id}/forms`;
  assertEquals(await problems(url, "POST", { name: "A", other: 1 }), [400, { other: "strict" }]);
  assertEquals((await request(url, { method: "POST", body: { name: "A" } })).status, 201);
});

test("an unexpected error of a part is 500, tells nothing, and goes to onError", async () => {
  @rest({ route: "/wells", methods: [one()] })
  class Well extends FrameworkModel {
    @rest({
      methods: [all<Page>({
        postFetch: () => {
          throw new Error("a detail");
        },
      })],
    })
    @arrayProp({ items: Page, embedded: true })
    pages?: Page[];
  }
  const seen: unknown[] = [];
  const onError = (_req: unknown, error: unknown) =>
    seen.push((error as Error).message) > 1 ? new RestError(502, "known") : new RestError(500, {});
  await using app = await mount([Well], { onError });
  const { _id } = await getModel(Well).create({ pages: [{ text: "T" }] } as never) as Well;
  const reply = await request(`${app.url}/wells/${_id}/pages`);
  assertEquals([reply.status, reply.text, seen], [500, "{}", ["a detail"]]);
  assertEquals((await request(`${app.url}/wells/${_id}/pages`)).status, 502);
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
  const url = `${app.url}/rings/${_id}/keys`;
  const reply = await request<ErrorBody>(url, { method: "POST", body: { code: "A" } });
  assertEquals([reply.status, reply.body.code], [409, "CONFLICT"]);
  assertEquals(reply.body.fields, ["keys.code"]);
});
