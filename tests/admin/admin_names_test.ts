import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, create, FrameworkModel, type FrameworkRequest, one, prop } from "../../mod.ts";
import { rest, type Restricted } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { isGuest, serveAdmin } from "./admin_app.ts";

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
  const all = `path=/memos&ids=${app.ids}`;
  const bob = { [String(BOB)]: "Bob Ray" };
  assertEquals(await app.names(all), bob);
  assertEquals(app.asked.splice(0), [BOB]);
  assertEquals(await app.names(all, "staff"), { ...bob, [String(ANN)]: "Ann Lee" });
  app.asked.splice(0);
  const nothing = [
    `path=/memos&ids=${secret}`,
    `path=/memos&ids=${ANN},${BOB}`,
    `path=/memos&ids=${ANN}/../${open}`,
    `path=/memo&ids=${open}`,
    `path=/lists&ids=${open}`,
    `path=/memos&ids=${open}&ids=${open}`,
    "path=/memos",
    "",
  ];
  for (const query of nothing) assertEquals(await app.names(query), {}, query);
  assertEquals(app.asked, []);
  const stamps = async (role: string) => (await app.read(role)).models.map((each) => each.stamps);
  assertEquals(await stamps("staff"), [["author", "updatedBy"], []]);
  assertEquals(await stamps("guest"), [["updatedBy"], []]);
});

test("the page gets no name of a sender whom a hook has masked", async () => {
  const initialize = { actor: () => ANN, actorNames: () => Promise.resolve(new Map()) };
  await using app = await serveAdmin([Letter], { initialize });
  const { _id } = await app.created("/letters", { text: "open" });
  const { status, body } = await app.get(`/admin/names.json?path=/masked&ids=${_id}`);
  assertEquals([status, body as unknown], [200, {}]);
});

test("the page gets no names of a route that it does not show", async () => {
  await using app = await serveMemos(() => false);
  assertEquals(await app.names(`path=/memos&ids=${app.ids}`, "staff"), {});
});
