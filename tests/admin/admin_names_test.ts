import { stub } from "@std/testing/mock";
import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
} from "../../mod.ts";
import { remove, rest, type Restricted } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type AdminServer, isGuest, serveAdmin } from "./admin_app.ts";

const ANN = new mongoose.Types.ObjectId();
const BOB = new mongoose.Types.ObjectId();

@rest({
  route: "/memos",
  scope: (req) => req.headers.role === "staff" ? {} : { text: { $ne: "secret" } },
  methods: [all(), one(), create()],
})
class Memo extends FrameworkModel {
  @prop()
  text?: string;

  @prop({ type: mongoose.Types.ObjectId, stamp: "createdBy", hidden: isGuest })
  readonly author?: Restricted<mongoose.Types.ObjectId>;

  @prop({ type: mongoose.Types.ObjectId, stamp: "updatedBy" })
  readonly updatedBy?: mongoose.Types.ObjectId;
}

@rest({
  route: "/masked",
  methods: [all(), one<Letter>({ preSend: (_req, { text }) => ({ text, author: "somebody" }) })],
})
@rest({ route: "/letters", methods: [create()] })
class Letter extends FrameworkModel {
  @prop()
  text?: string;

  @prop({ type: mongoose.Types.ObjectId, stamp: "createdBy" })
  readonly author?: mongoose.Types.ObjectId;
}

@rest({ route: "/lists", methods: [all(), create()] })
class NoPage extends FrameworkModel {
  @prop({ stamp: "createdBy" })
  readonly createdBy?: string;
}

/** Serves a memo of Bob that everybody reads, and one of Ann that the staff reads. */
async function serveMemos(see?: () => boolean) {
  const asked: unknown[] = [];
  const actor = ({ headers }: FrameworkRequest) => headers.user === "bob" ? BOB : ANN;
  const actorNames = (ids: readonly unknown[]) => {
    asked.push(...ids);
    return Promise.resolve(new Map([[ANN, "Ann Lee"], [BOB, "Bob Ray"]]));
  };
  const initialize = { actor, actorNames };
  const app = await serveAdmin([Memo, NoPage], { initialize, ...see && { see } });
  const made = (text: string, user: string) =>
    app.created("/memos", { text }, { headers: { user, role: "staff" } });
  const ids = [(await made("open", "bob"))._id, (await made("secret", "ann"))._id];
  const names = async (query: string, role = "guest") =>
    (await app.get(`/admin/names.json?${query}`, { headers: { role } })).body as unknown;
  return {
    ids,
    asked,
    names,
    read: app.read,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test("the page gets the names of senders whom its reader is shown, and no others", async () => {
  await using app = await serveMemos();
  const [open, secret] = app.ids;
  const of = (...ids: readonly unknown[]) => ids.map((id) => `&id=${id}`).join("");
  const all = `path=/memos${of(...app.ids)}`;
  const bob = { [String(BOB)]: "Bob Ray" };
  assertEquals(await app.names(all), bob);
  assertEquals(app.asked.splice(0), [BOB]);
  assertEquals(await app.names(all, "staff"), { ...bob, [String(ANN)]: "Ann Lee" });
  app.asked.splice(0);
  const nothing = [
    `path=/memos${of(secret)}`,
    `path=/memos${of(ANN, BOB)}`,
    `path=/memos${of(`${ANN}/../${open}`)}`,
    `path=/memo${of(open)}`,
    `path=/lists${of(open)}`,
    "path=/memos",
    "",
  ];
  for (const query of nothing) assertEquals(await app.names(query), {}, query);
  assertEquals(app.asked, []);
  const stamps = async (role: string) => (await app.read(role)).models.map((each) => each.stamps);
  assertEquals(await stamps("staff"), [["author", "updatedBy"], []]);
  assertEquals(await stamps("guest"), [["updatedBy"], []]);
});

class Clause extends FrameworkModel {
  @prop()
  text?: string;

  @prop({ stamp: "createdBy", hidden: isGuest })
  readonly author?: Restricted<string>;
}

@rest({ route: "/treaties", methods: [all(), one(), create()] })
class Treaty extends FrameworkModel {
  @rest({ methods: [all(), one(), create()] })
  @arrayProp({ items: Clause, embedded: true })
  clauses?: Clause[];

  @rest({
    scope: ({ headers }) => headers.author ? {} : { text: { $ne: "secret" } },
    methods: [all(), one(), create()],
  })
  @arrayProp({ items: Clause, embedded: true, apart: true })
  drafts?: Clause[];

  @rest({ methods: [all()] })
  @arrayProp({ items: Clause, embedded: true })
  listed?: Clause[];
}

test("the page gets the names of the senders of parts that its reader is shown", async () => {
  const initialize = {
    actor: () => "ann",
    actorNames: () => Promise.resolve(new Map([["ann", "Ann Lee"]])),
  };
  await using app = await serveAdmin([Treaty], { initialize });
  const { _id: treaty } = await app.created("/treaties", {});
  for (const property of ["clauses", "drafts"]) {
    const path = `/treaties/${treaty}/${property}`;
    const make = async (text: string) =>
      String((await app.created(path, { text }, { headers: { author: "yes" } }))._id);
    const [open, secret] = [await make("open"), await make("secret")];
    const names = async (id: string, role = "staff", at = path) => {
      const query = new URLSearchParams({ path: at, id });
      return (await app.get(`/admin/names.json?${query}`, { headers: { role } })).body as unknown;
    };
    assertEquals(await names(open), { ann: "Ann Lee" });
    assertEquals(await names(open, "guest"), {});
    assertEquals(await names(secret), property === "drafts" ? {} : { ann: "Ann Lee" });
    for (const at of [`${path}/${open}/..`, `${path}?x=`, `/treaties/${ANN}/${property}`]) {
      assertEquals(await names(open, "staff", at), {}, at);
    }
  }
  const stamps = async (role: string) =>
    (await app.read(role)).models[0]?.parts.map((each) => each.stamps);
  assertEquals(await stamps("staff"), [["author"], ["author"], []]);
  assertEquals(await stamps("guest"), [[], [], []]);
});

test("the page gets no name of a sender whom a hook has masked", async () => {
  const initialize = { actor: () => ANN, actorNames: () => Promise.resolve(new Map()) };
  await using app = await serveAdmin([Letter], { initialize });
  const { _id } = await app.created("/letters", { text: "open" });
  const { status, body } = await app.get(`/admin/names.json?path=/masked&id=${_id}`);
  assertEquals([status, body as unknown], [200, {}]);
});

test("the page gets no names of a route that it does not show", async () => {
  await using app = await serveMemos(() => false);
  assertEquals(await app.names(`path=/memos&id=${app.ids[0]}`, "staff"), {});
});

/** How many entities are read at this moment, and at most. */
const reads = { now: 0, most: 0 };

async function countRead(): Promise<boolean> {
  reads.most = Math.max(reads.most, ++reads.now);
  await new Promise((done) => setTimeout(done, 1));
  reads.now--;
  return true;
}

@rest({
  route: "/notes",
  trash: { see: (req) => !isGuest(req) },
  methods: [all(), one({ preFetch: countRead }), create(), remove()],
})
class Note extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: String });
  }

  @prop({ stamp: "createdBy" })
  readonly author?: string;
}

/** Serves notes, whose senders have their identifiers as names, in brackets. */
function serveNotes(answers = true) {
  const actorNames = (ids: readonly unknown[]) => {
    const names = new Map(ids.map((id) => [id, `(${id})`]));
    return answers ? Promise.resolve(names) : new Promise<typeof names>(() => {});
  };
  const initialize = {
    actor: ({ headers }: FrameworkRequest) => String(headers.user),
    actorNames,
    limits: { timeMS: 50 },
  };
  return serveAdmin([Note], { initialize });
}

async function namesOf(app: AdminServer, ids: readonly string[], role = "staff") {
  const query = new URLSearchParams([["path", "/notes"], ...ids.map((id) => ["id", id])]);
  return await app.get<unknown>(`/admin/names.json?${query}`, { headers: { role } });
}

test("entities have any identifiers, and are read a few at a time", async () => {
  await using app = await serveNotes();
  const ids = ["a b", "a,b", "a/b", "ä&c=d", "%2C"];
  for (const _id of ids) await app.created("/notes", { _id }, { headers: { user: `by ${_id}` } });
  const { body } = await namesOf(app, [...ids, ...Array.from({ length: 60 }, (_, at) => `x${at}`)]);
  assertEquals(body, Object.fromEntries(ids.map((id) => [`by ${id}`, `(by ${id})`])));
  assertEquals(reads.most, 4);
});

test("those who see the trash get the names of whoever made and removed its entities", async () => {
  await using app = await serveNotes();
  await app.created("/notes", { _id: "a" }, { headers: { user: "ann" } });
  await app.delete("/notes/a", { headers: { user: "bob" } });
  const names = { ann: "(ann)", bob: "(bob)" };
  assertEquals((await namesOf(app, ["a"])).body, names);
  assertEquals((await namesOf(app, ["a"], "guest")).body, {});
  const stamps = async (role: string) => (await app.read(role)).models.map((each) => each.stamps);
  assertEquals(await stamps("staff"), [["author", "deletedBy"]]);
  assertEquals(await stamps("guest"), [["author"]]);
});

test("names that the application gives too late are a 503", async () => {
  await using app = await serveNotes(false);
  await app.created("/notes", { _id: "a" }, { headers: { user: "ann" } });
  assertEquals((await namesOf(app, ["a"])).status, 503);
});

test("the page names its user, and works without the name if actorNames fails or hangs", async () => {
  using log = stub(console, "error");
  const asks: [() => Promise<Map<unknown, string>>, string][] = [
    [() => Promise.resolve(new Map([["ann", "Ann Lee"]])), "Ann Lee"],
    [() => Promise.resolve(new Map()), "ann"],
    [() => Promise.reject(new Error("No names")), "ann"],
    [() => new Promise(() => {}), "ann"],
  ];
  for (const [actorNames, name] of asks) {
    const initialize = { actor: () => "ann", actorNames, limits: { timeMS: 50 } };
    await using app = await serveAdmin([Note], { initialize });
    assertEquals((await app.read("/admin/routes.json")).user, name);
  }
  assertEquals(log.calls.length, 2);
});
