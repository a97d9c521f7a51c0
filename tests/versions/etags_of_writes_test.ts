import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { mount, type Mounted } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  a?: string;
  @prop()
  b?: string;
}

/** Serves notes whose writes have the hook. Reads make documents, which have defaults that are not stored first. */
function declareNotes(hook: object) {
  @rest({
    route: "/notes",
    methods: [one({ preSend: pass }), create(hook), update(hook), replace(hook)],
  })
  class Note extends FrameworkModel {
    @arrayProp({ items: String })
    tags?: string[];
    @arrayProp({ items: Inner, embedded: true })
    inners?: Inner[];
    @prop()
    title?: string;
    @prop({ type: Number, default: 3 })
    count?: number;
    @prop({ default: () => "made" })
    made?: string;
    @prop({ type: Inner })
    inner?: Inner;
    @prop()
    late?: string;
    @prop({ type: Object })
    free?: object;
    static override configure(schema: Schema): void {
      schema.set("timestamps", true);
    }
  }
  return Note;
}

type Note = Entity<InstanceType<ReturnType<typeof declareNotes>>>;

const HOOKS: Readonly<Record<string, object>> = {
  "no hook": {},
  "preSend": { preSend: pass },
  "postFetch": { postFetch: pass },
  "a preSave with set()": {
    preSave: (_req: FrameworkRequest, note: Note & mongoose.Document) => note.set({ late: "set" }),
  },
};

const inner = { _id: new mongoose.Types.ObjectId(), b: "1", a: "2" };

/** Most lack fields with a default, as if these were declared later. */
const STORED: readonly object[] = [
  { title: "a", late: "x" },
  { late: "x", title: "a", __v: 3, other: 1 },
  { free: { z: 1 }, inner, late: "l" },
  { __v: 1, count: 9, tags: ["x"], createdAt: new Date(0) },
];

const BODIES: readonly object[] = [
  { title: "n" },
  { inner: { a: "q" } },
  { count: null },
  { tags: ["z"], free: { q: 1 }, made: "m" },
  {},
  { late: null },
];

async function checkWrites(app: Mounted, route: string, insert: (stored: object) => unknown) {
  const check = async (method: string, path: string, body: object, stored?: object) => {
    const { text, headers } = await app.send<{ _id: string }>(method, path, { body });
    const { _id } = JSON.parse(text);
    const read = await app.get(`${route}/${_id}`);
    const about = `${method} ${JSON.stringify(body)} on ${JSON.stringify(stored)}`;
    assertEquals([about, text, headers.get("etag")], [about, read.text, read.headers.get("etag")]);
  };
  for (const body of BODIES) {
    await check("POST", route, body);
    for (const stored of STORED) {
      for (const method of ["PATCH", "PUT"]) {
        await check(method, `${route}/${await insert({ ...stored })}`, body, stored);
      }
    }
  }
}

for (const [name, hook] of Object.entries(HOOKS)) {
  test(`the answer to each write is that of the next read, with ${name}`, async () => {
    const model = declareNotes(hook);
    await using app = await mount([model]);
    await checkWrites(app, "/notes", async (stored) => {
      return (await getModel(model).collection.insertOne(stored as never)).insertedId;
    });
  });
}

test("the answer to each write is that of the next read, for an adopted model", async () => {
  const nested = { tags: [String], title: String, inner: { a: String, b: String }, late: String };
  const schema = new mongoose.Schema({
    ...nested,
    count: { type: Number, default: 3 },
    made: { type: String, default: () => "made" },
    free: {},
  });
  const model = mongoose.model("TaggedNote", schema);
  const target = adopt(model, {
    shown: "all",
    writable: "all",
    rest: { route: "/tagged", methods: [one(), create(), update(), replace()] },
  });
  await using app = await mount([target]);
  await checkWrites(app, "/tagged", async (stored) => {
    return (await model.collection.insertOne(stored as never)).insertedId;
  });
});
