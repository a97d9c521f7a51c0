import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  RestError,
} from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody, mount } from "../support/support.ts";

@rest({ route: "/actors", methods: [one()] })
class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @arrayProp({ items: () => Movie })
  movies?: string[];
  @prop({ hidden: true })
  secret?: string;
}

@rest({ route: "/movies", methods: [all(), create()] })
class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ required: true })
  description!: string;
  @arrayProp({ items: Actor })
  actors?: string[];
  @prop({ hidden: true })
  secret?: string;
}

/** The reference's example of a pagination hook. */
function paginate(req: FrameworkRequest): boolean {
  req.framework.options.skip = Number(req.query.page) * 20;
  req.framework.options.limit = 20;
  return true;
}

@rest({ route: "/pages", methods: [all({ preFetch: paginate })] })
class Page extends FrameworkModel {
  @prop({ type: Number, required: true })
  number!: number;
}

test("all() answers [] when there are no entities", async () => {
  await using app = await mount([Movie]);
  const reply = await app.get("/movies");
  assertEquals([reply.status, reply.text], [200, "[]"]);
  assertMatch(reply.headers.get("content-type") ?? "", /^application\/json/);
});

test("all() answers the declared fields, _id and __v of every entity", async () => {
  await using app = await mount([Movie]);
  const actor = new mongoose.Types.ObjectId();
  const [first, second] = await getModel(Movie).insertMany([
    { name: "A", description: "a", secret: "x" },
    { name: "B", description: "b", actors: [String(actor)] },
  ]);
  const reply = await app.get("/movies");
  assertEquals(reply.body, [
    { _id: String(first?._id), __v: 0, name: "A", description: "a", actors: [] },
    { _id: String(second?._id), __v: 0, name: "B", description: "b", actors: [String(actor)] },
  ]);
});

test("all() applies q as the filter of the query", async () => {
  await using app = await mount([Movie]);
  const movies = ["A", "B", "C"].map((name) => ({ name, description: "same" }));
  await getModel(Movie).insertMany(movies);
  const q = asQuery({ name: { $in: ["A", "C"] }, description: "same" });
  const reply = await app.get<EntityBody[]>(`/movies${q}`);
  assertEquals(reply.body.map(({ name }) => name).sort(), ["A", "C"]);
});

test("all() is not there for a verb whose operation is not listed", async () => {
  await using app = await mount([Movie]);
  const reply = await app.delete<string>("/movies");
  assertEquals(reply.status, 404);
  assertStringIncludes(reply.text, "Cannot DELETE /movies");
});

test("all() without a hook applies no pagination", async () => {
  await using app = await mount([Movie]);
  const movies = Array.from(
    { length: 150 },
    (_, index) => ({ name: `M${index}`, description: "" }),
  );
  await getModel(Movie).insertMany(movies.map((movie) => ({ ...movie, description: "d" })));
  const reply = await app.get<EntityBody[]>("/movies");
  assertEquals(reply.body.length, 150);
});

test("all() refuses with 400 a page that makes skip no count", async () => {
  await using app = await mount([Page]);
  for (const page of ["-1", "0.01", "1e30", "Infinity"]) {
    const reply = await app.get<ErrorBody>(`/pages?page=${page}`);
    assertEquals([page, reply.status, reply.body.code], [page, 400, "BAD_FORMAT"]);
  }
});

test("all() sorts by _id when a hook sets skip without sort", async () => {
  await using app = await mount([Page]);
  const ids = Array.from({ length: 40 }, () => new mongoose.Types.ObjectId());
  const pages = ids.map((_id, number) => ({ _id, number }));
  await getModel(Page).insertMany(pages.toReversed());
  const reply = await app.get<EntityBody[]>("/pages?page=1");
  assertEquals(reply.body.map(({ number }) => number), pages.slice(20).map((page) => page.number));
});

test("all() keeps the sort that a hook sets beside skip", async () => {
  @rest({
    route: "/sorted",
    methods: [all({
      preFetch: (req) => {
        req.framework.options = { skip: 1, limit: 2, sort: { number: -1 } };
        return true;
      },
    })],
  })
  class Sorted extends FrameworkModel {
    @prop({ type: Number })
    number?: number;
  }
  await using app = await mount([Sorted]);
  await getModel(Sorted).insertMany([1, 2, 3, 4].map((number) => ({ number })));
  const reply = await app.get<EntityBody[]>("/sorted");
  assertEquals(reply.body.map(({ number }) => number), [3, 2]);
});

test("all() runs with the filter that preFetch leaves, q in it", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/tasks",
    methods: [all({
      preFetch: (req) => {
        seen.push(structuredClone(req.framework.filter));
        req.framework.filter.owner = "me";
        return true;
      },
    })],
  })
  class Task extends FrameworkModel {
    @prop()
    owner?: string;
    @prop({ default: false })
    done!: boolean;
  }
  await using app = await mount([Task]);
  const done = { done: true };
  await getModel(Task).insertMany([{ owner: "me", ...done }, { owner: "me" }, { owner: "you" }]);
  const plain = await app.get<EntityBody[]>("/tasks");
  const q = asQuery({ done: "true", owner: "you" });
  const filtered = await app.get<EntityBody[]>(`/tasks${q}`);
  assertEquals(plain.body.map(({ owner }) => owner), ["me", "me"]);
  assertEquals(filtered.body.map(({ owner, done }) => [owner, done]), [["me", true]]);
  assertEquals(seen, [{}, { done: { $eq: true }, owner: { $eq: "you" } }]);
});

test("all() runs with the projection that a hook sets", async () => {
  @rest({
    route: "/shorts",
    methods: [all({
      preFetch: (req) => {
        req.framework.projection = { name: 1, secret: 1 };
        return true;
      },
    })],
  })
  class Short extends FrameworkModel {
    @prop()
    name?: string;
    @prop()
    text?: string;
    @arrayProp({ items: String })
    tags?: string[];
    @prop({ hidden: true })
    secret?: string;
  }
  await using app = await mount([Short]);
  const short = await getModel(Short).create({ name: "A", text: "a", tags: ["x"], secret: "s" });
  const reply = await app.get("/shorts");
  assertEquals(reply.body, [{ _id: String(short._id), name: "A" }]);
});

test("all() shows what options.populate brings in, without its hidden fields", async () => {
  @rest({
    route: "/casts",
    methods: [all({
      preFetch: (req) => {
        req.framework.options.populate = "actors";
        return true;
      },
    })],
    schemaOptions: { collection: "casts" },
  })
  class Cast extends FrameworkModel {
    @arrayProp({ items: Actor })
    actors?: string[];
  }
  await using app = await mount([Cast]);
  const actor = await getModel(Actor).create({ name: "Ada", secret: "s" });
  await getModel(Cast).create({ actors: [String(actor._id)] });
  const reply = await app.get<{ actors: unknown[] }[]>("/casts");
  assertEquals(reply.body[0]?.actors, [
    { _id: String(actor._id), __v: 0, name: "Ada", movies: [] },
  ]);
});

test("all() refuses a filter of a hook with undefined in it, and shows nothing", async () => {
  @rest({
    route: "/owned",
    methods: [all({
      preFetch: (req) => {
        req.framework.filter = { $and: [{ owner: req.headers["x-user"] }] };
        return true;
      },
    })],
  })
  class Owned extends FrameworkModel {
    @prop()
    owner?: string;
  }
  await using app = await mount([Owned], { onError: () => new RestError(500, "Seen") });
  await getModel(Owned).create({ owner: "me" });
  const reply = await app.get<ErrorBody>("/owned");
  assertEquals([reply.status, reply.body.message], [500, "Seen"]);
  const mine = await app.get<EntityBody[]>("/owned", { headers: { "x-user": "me" } });
  assertEquals(mine.body.length, 1);
});

test("all() tells hooks the operation and the model of the request", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/states",
    methods: [all({
      preFetch: async (req) => {
        const { filter, options, projection, operation } = req.framework;
        seen.push(filter, options, projection, operation, await req.framework.model() as unknown);
        return true;
      },
    })],
  })
  class State extends Named {}
  await using app = await mount([State]);
  await app.get("/states");
  assertEquals(seen.slice(0, 4), [{}, {}, {}, "all"]);
  assertEquals(seen[4] === getModel(State), true);
});

test("all() answers with the entities of a fetch hook, a query included", async () => {
  @rest({
    route: "/fixed",
    methods: [all({ fetch: () => getModel(Fixed).find({ shown: true }).sort({ name: -1 }) })],
  })
  class Fixed extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ default: true })
    shown!: boolean;
  }
  await using app = await mount([Fixed]);
  await getModel(Fixed).insertMany([{ name: "A" }, { name: "B", shown: false }, { name: "C" }]);
  const reply = await app.get<EntityBody[]>("/fixed");
  assertEquals(reply.body.map(({ name }) => name), ["C", "A"]);
});

test("all() serves a model under the path of the mount", async () => {
  await using app = await mount([Movie], { at: "/api/v1" });
  assertEquals((await app.get("/api/v1/movies")).body, []);
  assertEquals((await app.get("/movies")).status, 404);
});
