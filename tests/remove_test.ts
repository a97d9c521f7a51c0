import { assertEquals } from "@std/assert";
import { FrameworkModel, getModel, prop, remove, rest, RestError } from "../mod.ts";
import type { FrameworkRequest } from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type ErrorBody, mount, NOBODY } from "./support.ts";

@rest({ route: "/movies", methods: [remove()] })
class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ hidden: true })
  secret?: string;
}

function erase(url: string, headers: Record<string, string> = {}) {
  return request<ErrorBody>(url, { method: "DELETE", headers });
}

test("remove() answers 204 with nothing, and removes the entity alone", async () => {
  await using app = await mount([Movie]);
  const { _id } = await getModel(Movie).create({ name: "Up" });
  await getModel(Movie).create({ name: "Down" });
  const reply = await erase(`${app.url}/movies/${_id}`);
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals((await getModel(Movie).find()).map(({ name }) => name), ["Down"]);
  assertEquals((await erase(`${app.url}/movies/${_id}`)).status, 404);
});

test("remove() answers 404 when there is no such entity, or the identifier is none", async () => {
  await using app = await mount([Movie]);
  await getModel(Movie).create({ name: "Up" });
  for (const id of [NOBODY, "x"]) {
    const reply = await erase(`${app.url}/movies/${id}`);
    assertEquals([id, reply.status, reply.body.code], [id, 404, "NOT_FOUND"]);
  }
  assertEquals(await getModel(Movie).countDocuments(), 1);
});

test("remove() removes the entity only if q matches it", async () => {
  await using app = await mount([Movie]);
  const { _id } = await getModel(Movie).create({ name: "Up" });
  const url = `${app.url}/movies/${_id}`;
  assertEquals((await erase(`${url}${asQuery({ name: "Down" })}`)).status, 404);
  assertEquals((await erase(`${url}${asQuery({ secret: "s" })}`)).status, 400);
  assertEquals((await erase(`${url}?q=`)).status, 400);
  assertEquals(await getModel(Movie).countDocuments(), 1);
  assertEquals((await erase(`${url}${asQuery({ name: "Up" })}`)).status, 204);
  assertEquals(await getModel(Movie).countDocuments(), 0);
});

test("remove() needs no body, and ignores one that is no JSON", async () => {
  await using app = await mount([Movie]);
  const { _id } = await getModel(Movie).create({ name: "Up" });
  const reply = await request(`${app.url}/movies/${_id}`, {
    method: "DELETE",
    raw: "text",
    headers: { "content-type": "text/plain" },
  });
  assertEquals(reply.status, 204);
});

test("remove() removes only what the filter of preFetch matches", async () => {
  @rest({
    route: "/letters",
    methods: [remove({
      preFetch: (req) => {
        req.framework.filter.owner = req.headers["x-user"] ?? "";
        return true;
      },
    })],
  })
  class Letter extends FrameworkModel {
    @prop()
    owner?: string;
  }
  await using app = await mount([Letter]);
  const { _id } = await getModel(Letter).create({ owner: "me" });
  assertEquals((await erase(`${app.url}/letters/${_id}`, { "x-user": "you" })).status, 404);
  assertEquals(await getModel(Letter).countDocuments(), 1);
  assertEquals((await erase(`${app.url}/letters/${_id}`, { "x-user": "me" })).status, 204);
});

test("remove() is secured by the authentication hook of the reference", async () => {
  const authenticate = (req: FrameworkRequest) => {
    if (req.headers.authorization === "<SECRET_KEY>") return true;
    throw new RestError(401, { code: "UNAUTHENTICATED" });
  };
  @rest({ route: "/safe", methods: [remove({ preFetch: authenticate })] })
  class Safe extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Safe]);
  const { _id } = await getModel(Safe).create({ name: "a" });
  for (const headers of [{}, { authorization: "wrong" }]) {
    const reply = await erase(`${app.url}/safe/${_id}`, headers as Record<string, string>);
    assertEquals([reply.status, reply.body as object], [401, { code: "UNAUTHENTICATED" }]);
  }
  assertEquals(await getModel(Safe).countDocuments(), 1);
  const reply = await erase(`${app.url}/safe/${_id}`, { authorization: "<SECRET_KEY>" });
  assertEquals([reply.status, await getModel(Safe).countDocuments()], [204, 0]);
});

test("remove() gives preSave the entity as previous too, and obeys its null with 403", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/held",
    methods: [remove<Held>({
      preSave: (_req, held, previous) => {
        seen.push([held.name, held === previous]);
        return held.name === "free" ? held : null;
      },
    })],
  })
  class Held extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Held]);
  const held = await getModel(Held).create({ name: "held" });
  const free = await getModel(Held).create({ name: "free" });
  const refused = await erase(`${app.url}/held/${held._id}`);
  assertEquals([refused.status, refused.body.code], [403, "FORBIDDEN"]);
  assertEquals((await erase(`${app.url}/held/${free._id}`)).status, 204);
  assertEquals((await getModel(Held).find()).map(({ name }) => name), ["held"]);
  assertEquals(seen, [["held", true], ["free", true]]);
});

test("remove() answers 404 and removes nothing when postFetch gives null", async () => {
  @rest({ route: "/hush", methods: [remove({ postFetch: () => null })] })
  class Hush extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Hush]);
  const { _id } = await getModel(Hush).create({ name: "a" });
  assertEquals((await erase(`${app.url}/hush/${_id}`)).status, 404);
  assertEquals(await getModel(Hush).countDocuments(), 1);
});

test("remove() leaves the write to a persist hook", async () => {
  @rest({
    route: "/binned",
    methods: [remove<Binned>({
      persist: async (_req, binned, previous) => {
        await binned.set("binned", binned === previous).save();
        return binned;
      },
    })],
  })
  class Binned extends FrameworkModel {
    @prop({ default: false })
    binned!: boolean;
  }
  await using app = await mount([Binned]);
  const { _id } = await getModel(Binned).create({});
  const reply = await erase(`${app.url}/binned/${_id}`);
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals((await getModel(Binned).findById(_id))?.binned, true);
});
