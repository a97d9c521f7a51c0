import { assert, assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
// @ts-types="express-types"
import express from "express";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
} from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { Named } from "../fixtures/named.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount, start } from "../support/support.ts";

@rest({ route: "/actors", methods: [create(), one()] })
class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @arrayProp({ items: () => Movie })
  movies?: string[];
}

@rest({ route: "/movies", methods: [create(), one()] })
class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ required: true })
  description!: string;
  @arrayProp({ items: Actor })
  actors?: string[];
  @prop({ type: Number, default: 1 })
  rank!: number;
  @prop({ hidden: true })
  secret?: string;
}

const MOVIE = { name: "Up", description: "A house" };

test("create() answers 201 and the entity, stored as it is shown", async () => {
  await using app = await mount([Movie]);
  const reply = await app.post("/movies", MOVIE);
  const { _id } = reply.body;
  assertEquals(reply.status, 201);
  assertMatch(_id, /^[0-9a-f]{24}$/);
  assertEquals(reply.body, { ...MOVIE, _id, __v: 0, actors: [], rank: 1 });
  assertEquals((await app.get(`/movies/${_id}`)).body, reply.body);
  const stored = await app.database.connection.collection("movies").findOne();
  assertEquals(Object.keys(stored ?? {}).sort(), [
    "__v",
    "_id",
    "actors",
    "description",
    "name",
    "rank",
  ]);
});

test("create() takes the identifiers of an array of references", async () => {
  await using app = await mount([Movie, Actor]);
  const actor = await app.post("/actors", { name: "Ada" });
  const reply = await app.post("/movies", { ...MOVIE, actors: [actor.body._id] });
  assertEquals(reply.body.actors, [actor.body._id]);
  const stored = await getModel(Movie).findById(reply.body._id).lean();
  assertEquals(stored?.actors?.[0] as unknown instanceof mongoose.Types.ObjectId, true);
});

test("create() refuses with 400 a body without a required field, and stores nothing", async () => {
  await using app = await mount([Movie]);
  const reply = await app.post<ErrorBody>("/movies", {});
  assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
  assertEquals(Object.keys(reply.body.errors ?? {}).sort(), ["description", "name"]);
  assertEquals(reply.body.errors?.name?.kind, "required");
  assertEquals(await getModel(Movie).countDocuments(), 0);
});

test("create() builds Location from a mount with a parameter", async () => {
  await using app = await mount([Movie], { at: "/:tenant/v1" });
  const reply = await app.post("/acme/v1/movies", MOVIE);
  assertEquals(reply.headers.get("location"), `/acme/v1/movies/${reply.body._id}`);
});

test("create() builds Location through routers inside routers", async () => {
  await using _database = await openDatabase();
  const app = express();
  const outer = express.Router();
  outer.use("/inner", express.json(), Framework.initialize({ models: [Movie] }));
  app.use("/outer", outer);
  await using api = await start(app);
  const reply = await api.post("/outer/inner/movies", MOVIE);
  assertEquals(reply.headers.get("location"), `/outer/inner/movies/${reply.body._id}`);
});

test("create() stores a hidden field and does not show it", async () => {
  await using app = await mount([Movie]);
  const reply = await app.post("/movies", { ...MOVIE, secret: "s" });
  assertEquals("secret" in reply.body, false);
  assertEquals((await getModel(Movie).findOne())?.secret, "s");
});

test("create() is not filtered: neither by q, which it does not know, nor by req.framework.filter", async () => {
  @rest({
    route: "/free",
    methods: [create({
      preFetch: (req) => {
        req.framework.filter = { name: "other" };
        return true;
      },
    })],
  })
  class Free extends Named {}
  await using app = await mount([Free]);
  const reply = await app.post(`/free${asQuery({ name: "else", $where: "1" })}`, {
    name: "A",
  });
  assertEquals([reply.status, reply.body.name], [201, "A"]);
});

test("create() stores what preSave makes of the entity, a readonly field included", async () => {
  const previous: unknown[] = [];
  @rest({
    route: "/notes",
    methods: [create<Note>({
      preSave: (req, note, ...others) => {
        previous.push(...others);
        note.owner = String(req.headers["x-user"]);
        return note;
      },
    })],
  })
  class Note extends FrameworkModel {
    @prop({ required: true, readonly: true })
    owner!: string;
  }
  await using app = await mount([Note]);
  const reply = await app.post("/notes", { owner: "you" }, { headers: { "x-user": "me" } });
  assertEquals([reply.status, reply.body.owner], [201, "me"]);
  assertEquals((await getModel(Note).findOne())?.owner, "me");
  assertEquals(previous, []);
});

test("create() answers 204 when preSend gives null: the entity is saved", async () => {
  @rest({ route: "/silent", methods: [create({ preSend: () => null })] })
  class Silent extends Named {}
  await using app = await mount([Silent]);
  const reply = await app.post("/silent", { name: "A" });
  const stored = await getModel(Silent).findOne();
  assertEquals([reply.status, reply.text, stored?.name], [204, "", "A"]);
  assertEquals(reply.headers.get("location"), `/silent/${stored?._id}`);
});

test("create() shows preSend the entity after it was saved, once, and answers with its result", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/shown",
    methods: [create<Shown>({
      preSend: (_req: FrameworkRequest, shown) => {
        seen.push(shown.isNew);
        return { _id: shown._id, name: shown.name };
      },
    })],
  })
  class Shown extends FrameworkModel {
    @prop()
    name?: string;
    @prop()
    password?: string;
  }
  await using app = await mount([Shown]);
  const reply = await app.post("/shown", { name: "A", password: "p" });
  assertEquals(reply.body as object, { _id: reply.body._id, name: "A" });
  assertEquals(seen, [false]);
});

test("create() sets the timestamps of schemaOptions, whatever the body says", async () => {
  @rest({ route: "/stamped", methods: [create()], schemaOptions: { timestamps: true } })
  class Stamped extends Named {}
  await using app = await mount([Stamped]);
  const before = new Date().toISOString();
  const past = "2000-01-01T00:00:00.000Z";
  const { body } = await app.post("/stamped", { createdAt: past, updatedAt: past });
  for (const stamp of [body.createdAt, body.updatedAt]) assert(String(stamp) >= before);
});

test("create() succeeds once for each unique value, however many clients send it at once", async () => {
  @rest({ route: "/firsts", methods: [create()] })
  @rest({ route: "/hooked", methods: [create({ preSave: pass })] })
  class First extends FrameworkModel {
    @prop({ unique: true })
    email?: string;
  }
  await using app = await mount([First]);
  await getModel(First).init();
  for (const route of ["/firsts", "/hooked"]) {
    for (let round = 0; round < 5; round++) {
      const email = `${route} ${round}`;
      const calls = Array.from({ length: 64 }, () => app.post(route, { email }));
      const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
      assertEquals(statuses, [201, ...Array(63).fill(409)]);
    }
  }
  assertEquals(await getModel(First).countDocuments(), 10);
});
