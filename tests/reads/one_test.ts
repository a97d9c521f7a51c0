import { assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest, RestError } from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { hooked, type Item } from "../support/hooked.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

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
  const reply = await app.get(`/actors/${_id}`);
  assertEquals(reply.status, 200);
  assertEquals(reply.body, { _id: String(_id), __v: 0, name: "Ada", friends: [] });
});

test("one() answers an error in JSON when the path cannot be decoded", async () => {
  await using app = await mount([Actor]);
  for (const id of ["%ff", "%"]) {
    const reply = await app.get<ErrorBody>(`/actors/${id}`);
    assertEquals([id, reply.status, reply.body.code], [id, 404, "NOT_FOUND"]);
  }
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
  const reply = await app.get(`/profiles/${_id}`);
  assertEquals(reply.body, { _id: String(_id), __v: 0, city: "Ghent" });
});

test("one() answers 403 when its access rule throws so, while all() drops the entity", async () => {
  const isPublic = (_req: unknown, note: Item) => {
    if (note.owner !== "all") throw new RestError(403, "Not public");
    return note;
  };
  const note = hooked({ one: { postFetch: isPublic } });
  await using app = await mount([note]);
  const { _id } = await getModel(note).create({});
  const reply = await app.get(`/items/${_id}`);
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
  const reply = await app.get<EntityBody>(`/users/${_id}`);
  assertEquals(reply.body, { _id: String(_id), __v: 0, name: "Ada", password: null });
  assertEquals((await getModel(User).findById(_id))?.password, "s");
});

test("one() with a fetch hook takes any identifier", async () => {
  const named: ModelClass<Item> = hooked({
    one: { fetch: (req) => getModel(named).findOne({ name: String(req.params.id) }) },
  });
  await using app = await mount([named]);
  await getModel(named).create({ name: "ada" });
  const reply = await app.get<EntityBody>("/items/ada");
  assertEquals([reply.status, reply.body.name], [200, "ada"]);
  assertEquals((await app.get("/items/bob")).body, NOT_FOUND);
});

test("one() answers the first entity, or 404, when a fetch hook gives a list", async () => {
  const listed: ModelClass<Item> = hooked({ one: { fetch: () => getModel(listed).find() } });
  await using app = await mount([listed]);
  assertEquals((await app.get("/items/any")).status, 404);
  await getModel(listed).create({ name: "ada" });
  assertEquals((await app.get<EntityBody>("/items/any")).body.name, "ada");
});

test("one() is not taken for another model whose route begins alike", async () => {
  @rest({ route: "/actors/retired", methods: [all()], schemaOptions: { collection: "retired" } })
  class Retired extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Actor, Retired]);
  const reply = await app.get("/actors/retired");
  assertEquals([reply.status, reply.body], [200, []]);
});
