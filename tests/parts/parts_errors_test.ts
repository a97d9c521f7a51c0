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
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Nameless extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
}

type Field = (_value: undefined, context: ClassFieldDecoratorContext) => void;

const NOTES = { items: Note, embedded: true };

/** Returns a class whose property `part` is a sub-route. With `null`, it is no field. */
function parentOf(
  part: object,
  options: object | null = NOTES,
  methods: readonly Method<HooksOf<FrameworkModel>>[] = [one()],
): ModelClass {
  const decorate = options && "items" in options ? arrayProp : prop;
  const subRoute = rest(part as never) as Field;
  const field = (options === null ? () => {} : decorate(options as never)) as Field;
  @rest({ route: "/a", methods: methods as never[] })
  class Parent extends FrameworkModel {
    @subRoute
    @field
    part?: unknown;
  }
  return Parent;
}

/** A sub-route that cannot be mounted, and what the message names beside the class and the property. */
type Row = [name: string, modelOf: () => ModelClass, ...words: string[]];

const REFUSED: Row[] = [
  ["a parent without one()", () => parentOf({ methods: [all()] }, NOTES, [all()]), "one()"],
  ["a text", () => parentOf({ methods: [one()] }, {})],
  ["a list of texts", () => parentOf({ methods: [all()] }, { items: String })],
  ["a Map", () => parentOf({ methods: [all()] }, { type: Map, of: Note })],
  ["no field", () => parentOf({ methods: [one()] }, null)],
  ["a hidden part", () => parentOf({ methods: [all()] }, { ...NOTES, hidden: true }), "hidden"],
  ...[all(), removeAll()].flatMap((many): Row[] => [
    [
      `${many.operation}() of an object`,
      () => parentOf({ methods: [one(), many] }, { type: Note }),
      `${many.operation}()`,
    ],
    [
      `${many.operation}() of a reference`,
      () => parentOf({ methods: [many] }, { ref: Note }),
      `${many.operation}()`,
    ],
  ]),
  ...[one(), create(), update(), remove(), removeAll()].map((each): Row => [
    `${each.operation}() of elements without _id`,
    () => parentOf({ methods: [each] }, { items: Nameless, embedded: true }),
    `${each.operation}()`,
    "_id",
  ]),
  ["no methods", () => parentOf({ methods: [] }), `"methods"`],
  ["methods that are none", () => parentOf({ methods: [{}] }), `"methods"`],
  [
    "an unknown hook",
    () => parentOf({ methods: [one({ afterwards: pass } as never)] }),
    "afterwards",
  ],
  ["a hook that is none", () => parentOf({ methods: [one({ preSend: 1 } as never)] }), "preSend"],
  ...["notes", "/", "/:id", "/a*", ""].map((route): Row => [
    `the route "${route}"`,
    () => parentOf({ methods: [all()], route }),
    `"${route}"`,
  ]),
];

test("initialize() refuses a part that cannot be served", async (t) => {
  for (const [name, modelOf, ...words] of REFUSED) {
    await t.step(name, () => {
      const start = () => Framework.initialize({ models: [modelOf()] });
      const { message } = assertThrows(start, TypeError);
      for (const word of [`"part"`, "Parent", ...words]) assert(message.includes(word), message);
    });
  }
});

test("initialize() refuses two routes of parts with one path", () => {
  @rest({ route: "/a", methods: [one()] })
  class Clash extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
    @rest({ methods: [all()], route: "/notes" })
    @arrayProp({ items: Note })
    others?: Ref<Note>[];
  }
  for (const model of [parentOf({ methods: [all(), all()], route: "/notes" }), Clash]) {
    const start = () => Framework.initialize({ models: [model] });
    assertThrows(start, TypeError, "/a/:id/notes");
  }
});

test("initialize() lists elements without _id", () => {
  const model = parentOf({ methods: [all()] }, { items: Nameless, embedded: true });
  const routes = Framework.initialize({ models: [model] }).describe();
  assertEquals(routes.map(({ path }) => path), ["/a/:id", "/a/:id/part"]);
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
