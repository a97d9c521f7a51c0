import { assertEquals, assertThrows } from "@std/assert";
import {
  action,
  all,
  arrayProp,
  create,
  define,
  Framework,
  FrameworkModel,
  type ModelClass,
  one,
  prop,
  remove,
  replace,
  rest,
  StoredFile,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { fileAt, outcome } from "./shelf.ts";

/** Options of a field that the compiler refuses. */
const wrong = (options: object) => ({ type: StoredFile, maxBytes: 1, ...options }) as never;

function classWith(field: (name: string) => void | object, name = "Wrong"): ModelClass {
  const target = { [name]: class extends FrameworkModel {} }[name] as ModelClass;
  define(
    target,
    { fields: { file: field(name) }, rest: { route: "/wrong", methods: [one()] } } as never,
  );
  return target;
}

const PROBLEMS: Record<string, object> = {
  'needs a whole number of bytes as "maxBytes"': { type: StoredFile },
  'a file, and needs a whole number of bytes as "maxBytes"': wrong({ maxBytes: 1.5 }),
  'cannot have "required"': wrong({ required: true }),
  'cannot have "default"': wrong({ default: {} }),
  'cannot have "unique"': wrong({ unique: true }),
  'cannot have "index"': wrong({ index: true }),
  'needs true or false as "inline"': wrong({ inline: "yes" }),
  'needs a list of media types as "accept"': wrong({ accept: ["png"] }),
  'a list of media types as "accept", such': wrong({ accept: ["image/png; q=1"] }),
  'has "maxBytes" and no StoredFile as "type"': { type: Number, maxBytes: 1 },
  'has "accept" and no StoredFile as "type"': { type: String, accept: ["image/png"] },
  "holds several files": { items: StoredFile, embedded: true },
  "holds several files: embed": { type: Map, of: StoredFile },
  "cannot have all(): declare one(), replace() or remove()": wrong({ rest: { methods: [all()] } }),
  "cannot have create()": wrong({ rest: { methods: [create()] } }),
  "cannot have update()": wrong({ rest: { methods: [update()] } }),
  "cannot have zip()": wrong({ rest: { methods: [action("zip", { on: "one", run: () => {} })] } }),
  'cannot have a "scope"': wrong({ rest: { methods: [one()], scope: () => ({}) } }),
  'its one() cannot have "postFetch"': wrong({
    rest: { methods: [one({ postFetch: (_, each) => each })] },
  }),
  'its replace() cannot have "preSave"': wrong({
    rest: { methods: [replace({ preSave: (_, each) => each })] },
  }),
  'its replace() cannot have "by"': wrong({ rest: { methods: [replace({ by: "name" })] } }),
  "is readonly, and cannot have replace()": wrong({
    readonly: true,
    rest: { methods: [one(), replace()] },
  }),
  "is readonly, and cannot have remove()": wrong({ readonly: true, rest: { methods: [remove()] } }),
};

test("wrong declarations of files are start-up errors that name class and property", () => {
  for (const [problem, field] of Object.entries(PROBLEMS)) {
    const models = [classWith(() => field)];
    const error = assertThrows(() => Framework.initialize({ models }), TypeError);
    assertEquals(error.message.includes(problem), true, error.message);
    assertEquals(/"Wrong".*"file"/.test(error.message), true, error.message);
  }
});

class Plain extends FrameworkModel {
  name?: string;
  paper?: StoredFile;
}
define(Plain, {
  fields: {
    name: {},
    paper: {
      type: StoredFile,
      maxBytes: 10,
      rest: {
        route: "/the-paper",
        methods: [one(), replace({ preFetch: (req) => req.headers["x-no"] === undefined })],
      },
    },
  },
  rest: { route: "/plain", methods: [one(), create()] },
});

test("define() declares files as decorators do, with a path of their own", async () => {
  await using app = await mount([Plain], { at: "/api" });
  const { _id } = await app.created("/api/plain", { name: "a" });
  const { put, get, remove } = fileAt(`${app.url}/api/plain/${_id}/the-paper`);
  assertEquals(await outcome(put("x", { "x-no": "1" })), [403, "FORBIDDEN"]);
  assertEquals(await outcome(put("12345678901")), [413, "PAYLOAD_TOO_LARGE"]);
  const stored = await put("1234567890");
  assertEquals([stored.status, stored.headers.get("location")], [
    201,
    `/api/plain/${_id}/the-paper`,
  ]);
  await stored.body?.cancel();
  assertEquals(await (await get()).text(), "1234567890");
  assertEquals((await remove()).status, 404);
});

class Node extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 10 })
  leaf?: StoredFile;
  @rest({ methods: [one(), create(), update()] })
  @arrayProp({ items: () => Node, embedded: true })
  nodes!: Node[];
}

@rest({ route: "/trees", methods: [one(), create(), update()] })
class Tree extends FrameworkModel {
  @rest({ methods: [one(), create(), update()] })
  @arrayProp({ items: () => Node, embedded: true })
  nodes!: Node[];
}

test("files in a class that embeds itself are kept", async () => {
  await using app = await mount([Tree]);
  const { _id, nodes } = await app.created<
    { _id: string; nodes: { _id: string; nodes: { _id: string }[] }[] }
  >("/trees", {
    nodes: [{ name: "a", nodes: [{ name: "b" }] }],
  });
  const [outer] = nodes;
  const inner = `${app.url}/trees/${_id}/nodes/${outer?._id}/nodes/${outer?.nodes[0]?._id}/leaf`;
  for (const url of [`${app.url}/trees/${_id}/nodes/${outer?._id}/leaf`, inner]) {
    assertEquals(await outcome(fileAt(url).put("x")), [201]);
  }
  assertEquals(await Framework.tidy({ at: new Date(Date.now() + 1e9) }), { removed: {} });
  assertEquals(await (await fileAt(inner).get()).text(), "x");
});
