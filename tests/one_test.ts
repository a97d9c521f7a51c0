import { assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest, RestError } from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "./support.ts";

const NOT_FOUND = { code: "NOT_FOUND", message: "No such entity" };

@rest({ route: "/actors", methods: [one()] })
class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  age?: number;
  @arrayProp({ items: () => Actor })
  friends?: string[];
  @prop({ hidden: true })
  secret?: string;
}

test("one() answers the entity with its declared fields, _id and __v", async () => {
  await using app = await mount([Actor]);
  const { _id } = await getModel(Actor).create({ name: "Ada", secret: "s" });
  const reply = await request(`${app.url}/actors/${_id}`);
  assertEquals(reply.status, 200);
  assertEquals(reply.body, { _id: String(_id), __v: 0, name: "Ada", friends: [] });
});

test("one() answers 404 when no entity has the identifier", async () => {
  await using app = await mount([Actor]);
  const reply = await request(`${app.url}/actors/${NOBODY}`);
  assertEquals([reply.status, reply.body], [404, NOT_FOUND]);
});

test("one() answers 404 when the identifier is none", async () => {
  await using app = await mount([Actor]);
  await getModel(Actor).create({ name: "Ada" });
  for (const id of ["x", "123456789012", NOBODY + "0", "%7B%22$ne%22:1%7D", "%00", "__proto__"]) {
    const reply = await request(`${app.url}/actors/${id}`);
    assertEquals([id, reply.status, reply.body], [id, 404, NOT_FOUND]);
  }
});

test("one() answers an error in JSON when the path cannot be decoded", async () => {
  await using app = await mount([Actor]);
  for (const id of ["%ff", "%"]) {
    const reply = await request<ErrorBody>(`${app.url}/actors/${id}`);
    assertEquals([id, reply.status, reply.body.code], [id, 404, "NOT_FOUND"]);
  }
});

test("one() finds the entity only if q matches it too", async () => {
  await using app = await mount([Actor]);
  const { _id } = await getModel(Actor).create({ name: "Ada", age: 36 });
  const read = (filter: object) => request<ErrorBody>(`${app.url}/actors/${_id}${asQuery(filter)}`);
  assertEquals((await read({ age: { $gt: 30 } })).status, 200);
  assertEquals((await read({ age: { $gt: 40 } })).status, 404);
  assertEquals((await read({ _id: NOBODY })).status, 404);
  const bad = await read({ age: { $where: "1" } });
  assertEquals([bad.status, bad.body.code], [400, "BAD_FORMAT"]);
});

test("one() finds the entity only if the filter of preFetch matches it too", async () => {
  @rest({
    route: "/letters",
    methods: [one({
      preFetch: (req) => {
        req.framework.filter = { owner: req.headers["x-user"] ?? "" };
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
  const url = `${app.url}/letters/${_id}`;
  assertEquals((await request(url, { headers: { "x-user": "me" } })).status, 200);
  assertEquals((await request(url, { headers: { "x-user": "you" } })).body, NOT_FOUND);
  assertEquals((await request(url)).status, 404);
});

test("one() runs with the projection that a hook sets", async () => {
  @rest({
    route: "/profiles",
    methods: [one({
      preFetch: (req) => {
        req.framework.projection = { name: 0 };
        return true;
      },
    })],
  })
  class Profile extends FrameworkModel {
    @prop()
    name?: string;
    @prop()
    city?: string;
  }
  await using app = await mount([Profile]);
  const { _id } = await getModel(Profile).create({ name: "Ada", city: "Ghent" });
  const reply = await request(`${app.url}/profiles/${_id}`);
  assertEquals(reply.body, { _id: String(_id), __v: 0, city: "Ghent" });
});

test("one() answers 404 when postFetch or preSend gives null or nothing", async () => {
  const nothing = () => undefined as unknown as null;
  for (
    const hooks of [{ postFetch: () => null }, { preSend: () => null }, { postFetch: nothing }]
  ) {
    @rest({ route: "/secrets", methods: [one(hooks)] })
    class Secret extends FrameworkModel {
      @prop()
      name?: string;
    }
    await using app = await mount([Secret]);
    const { _id } = await getModel(Secret).create({ name: "Ada" });
    const reply = await request(`${app.url}/secrets/${_id}`);
    assertEquals([reply.status, reply.body], [404, NOT_FOUND]);
  }
});

test("one() answers 403 when its access rule throws so, while all() drops the entity", async () => {
  const isPublic = (_req: unknown, note: { shown: boolean }) => {
    if (!note.shown) throw new RestError(403, "Not public");
    return note;
  };
  @rest({ route: "/notes", methods: [one({ postFetch: isPublic })] })
  class Note extends FrameworkModel {
    @prop({ default: false })
    shown!: boolean;
  }
  await using app = await mount([Note]);
  const { _id } = await getModel(Note).create({});
  const reply = await request(`${app.url}/notes/${_id}`);
  assertEquals([reply.status, reply.body], [403, { code: "FORBIDDEN", message: "Not public" }]);
});

test("one() answers with what preSend gives in place of the entity", async () => {
  @rest({
    route: "/users",
    methods: [one<User>({
      preSend: (_req, user) => {
        user.set("password", null);
        return user;
      },
    })],
  })
  class User extends FrameworkModel {
    @prop()
    name?: string;
    @prop()
    password?: string;
  }
  await using app = await mount([User]);
  const { _id } = await getModel(User).create({ name: "Ada", password: "s" });
  const reply = await request<EntityBody>(`${app.url}/users/${_id}`);
  assertEquals(reply.body, { _id: String(_id), __v: 0, name: "Ada", password: null });
  assertEquals((await getModel(User).findById(_id))?.password, "s");
});

test("one() with a fetch hook takes any identifier", async () => {
  @rest({
    route: "/named",
    methods: [one({ fetch: (req) => getModel(Named).findOne({ name: String(req.params.id) }) })],
  })
  class Named extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Named]);
  await getModel(Named).create({ name: "ada" });
  const reply = await request<EntityBody>(`${app.url}/named/ada`);
  assertEquals([reply.status, reply.body.name], [200, "ada"]);
  assertEquals((await request(`${app.url}/named/bob`)).body, NOT_FOUND);
});

test("one() answers the first entity, or 404, when a fetch hook gives a list", async () => {
  @rest({ route: "/lists", methods: [one({ fetch: () => getModel(Listed).find() })] })
  class Listed extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Listed]);
  assertEquals((await request(`${app.url}/lists/any`)).status, 404);
  await getModel(Listed).create({ name: "ada" });
  assertEquals((await request<EntityBody>(`${app.url}/lists/any`)).body.name, "ada");
});

test("one() is not taken for another model whose route begins alike", async () => {
  @rest({ route: "/actors/retired", methods: [all()], schemaOptions: { collection: "retired" } })
  class Retired extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Actor, Retired]);
  const reply = await request(`${app.url}/actors/retired`);
  assertEquals([reply.status, reply.body], [200, []]);
});
