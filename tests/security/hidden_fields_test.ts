import { assert, assertEquals } from "@std/assert";
import { type Schema, type SchemaOptions, Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount, type Mounted } from "../support/support.ts";

type Json = Record<string, unknown>;

class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;
  @prop({ hidden: true })
  code?: string;
}

const reveal = (_req: FrameworkRequest, user: Entity<User>) => ({
  ...user.toObject(),
  proof: `${user.secret}/${user.parts?.code}`,
});

@rest({ route: "/users", methods: [all(), one(), create(), update()] })
@rest({ route: "/copies", methods: [all({ preSend: reveal }), create({ preSend: reveal })] })
class User extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ hidden: true })
  secret?: string;
  @arrayProp({ items: String, hidden: true })
  keys?: string[];
  @prop({ type: () => Address })
  parts?: Address;
  @arrayProp({ items: () => Address, embedded: true })
  places?: Address[];
  @prop({ type: Map, of: Address })
  byName?: Map<string, Address>;
  @prop({ type: Number, readonly: true, default: 0 })
  score!: number;
  @arrayProp({ items: String, readonly: true })
  roles?: string[];
}

const SECRETS = {
  name: "a",
  secret: "s1",
  keys: ["s2"],
  parts: { street: "b", code: "s3" },
  places: [{ street: "c", code: "s4" }],
  byName: { x: { street: "d", code: "s5" } },
};

/** Tells what of {@linkcode SECRETS} stands in a text. */
function leaks(text: string): string[] {
  return text.match(/s[1-5]\b/g) ?? [];
}

test("prop() keeps a hidden field out of every answer, at every depth", async () => {
  await using app = await mount([User]);
  const reply = await app.post<{ _id: string }>("/users", SECRETS);
  assertEquals([reply.status, leaks(reply.text)], [201, []]);
  assert(reply.text.includes(`"street":"d"`));
  const path = `/users/${reply.body._id}`;
  for (const each of [path, "/users"]) assertEquals(leaks((await app.get(each)).text), []);
  const changed = await app.patch(path, { secret: "s1", name: "b" });
  assertEquals([changed.status, leaks(changed.text)], [200, []]);
  const stored = JSON.stringify(await getModel(User).collection.findOne());
  assertEquals(leaks(stored).sort(), ["s1", "s2", "s3", "s4", "s5"]);
});

test("prop() shows a hidden field to hooks, and strips it from the copies that they give", async () => {
  await using app = await mount([User]);
  const reply = await app.post<{ proof: string }>("/copies", SECRETS);
  assertEquals(reply.body.proof, "s1/s3");
  assertEquals(leaks(reply.text), ["s1", "s3"]);
  assertEquals(leaks((await app.get("/copies")).text), ["s1", "s3"]);
});

test("prop() strips hidden fields from whatever a hook makes of a document", async () => {
  const shapes: Record<string, (user: Entity<User>) => object> = {
    document: (user) => user,
    spread: (user) => ({ ...user }),
    wrapped: (user) => ({ data: user.toObject() }),
    wrappedDocument: (user) => ({ data: user }),
    listed: (user) => ({ data: [user.toObject(), user] }),
    flat: (user) => user.toObject({ flattenMaps: true }),
    parts: ({ parts, places, byName }) => ({ parts, places, byName }),
    parsed: (user) => JSON.parse(JSON.stringify(user)),
    text: (user) => ({ text: JSON.stringify(user) }),
  };
  for (const [name, make] of Object.entries(shapes)) {
    @rest({
      route: "/u",
      methods: [create({ preSend: (_req, user: Entity<Shown>) => make(user) })],
    })
    class Shown extends User {}
    await using app = await mount([Shown]);
    const reply = await app.post("/u", SECRETS);
    assertEquals([name, reply.status, leaks(reply.text)], [name, 201, []]);
  }
});

test("preSend may give { ...document }: its values are meant, not Mongoose's inside", async () => {
  const preSend = (_req: FrameworkRequest, user: Entity<Spread>) => ({
    ...user,
    name: "b",
    parts: { ...user.parts },
  });
  @rest({ route: "/spread", methods: [create({ preSend }), all({ preSend })] })
  class Spread extends User {}
  await using app = await mount([Spread]);
  const made = await app.created("/spread", SECRETS);
  const names = ["__v", "_id", "byName", "name", "parts", "places", "roles", "score"];
  assertEquals(Object.keys(made).sort(), names);
  const { _id: _, ...parts } = made.parts as Json;
  assertEquals([made.name, parts], ["b", { street: "b" }]);
  const [read] = await app.read<Json[]>("/spread");
  assertEquals(read, made);
});

test("prop() takes a read-only field from no body, and lets hooks set it", async () => {
  const award = (_req: FrameworkRequest, user: Entity<Rated>) => {
    user.score += 1;
    return user;
  };
  @rest({ route: "/rated", methods: [create({ preSave: award }), update({ preSave: award })] })
  class Rated extends User {}
  await using app = await mount([Rated]);
  const body = { name: "a", score: 50, roles: ["admin"] };
  const made = await app.created("/rated", body);
  assertEquals([made.score, made.roles], [1, []]);
  const changed = await app.updated(`/rated/${made._id}`, body);
  assertEquals([changed.score, changed.roles], [2, []]);
});

@rest({
  route: "/teams",
  methods: [
    all({ preFetch: populate }),
    one({ preFetch: populate }),
    create(),
  ],
})
class Team extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.virtual("fans", {
      ref: () => getModel(User),
      localField: "name",
      foreignField: "name",
    });
  }
  @prop()
  name?: string;
  @prop({ ref: User })
  lead?: Ref<User>;
  @arrayProp({ items: () => User })
  members?: string[];
}

/** Asks for what the query string of a request names. */
function populate(req: FrameworkRequest): boolean {
  const { populate, lean } = req.query;
  req.framework.options.populate = String(populate ?? "").split(",").filter(Boolean);
  req.framework.options.lean = lean !== undefined;
  return true;
}

async function teamOf(app: Mounted): Promise<{ user: string; team: string }> {
  const user = await app.created("/users", SECRETS);
  const team = await app.created("/teams", { name: "a", lead: user._id, members: [user._id] });
  assertEquals([team.lead, team.members], [user._id, [user._id]]);
  return { user: user._id, team: team._id };
}

test("prop() and arrayProp() hold references as identifiers", async () => {
  await using app = await mount([User, Team]);
  const { user } = await teamOf(app);
  const [team] = await app.read<Json[]>("/teams");
  assertEquals([team?.lead, team?.members], [user, [user]]);
  const stored = await getModel(Team).collection.findOne();
  assert(stored?.lead instanceof Types.ObjectId && stored.members[0] instanceof Types.ObjectId);
  const reply = await app.post<{ errors: Json }>("/teams", { lead: "x", members: [{}] });
  assertEquals(Object.keys(reply.body.errors).sort(), ["lead", "members.0"]);
});

test("options.populate brings in entities without their hidden fields, documents and lean", async () => {
  await using app = await mount([User, Team]);
  const { user, team } = await teamOf(app);
  for (const path of [`teams/${team}`, "teams"]) {
    for (const lean of ["", "&lean"]) {
      const reply = await app.get<Json>(`/${path}?populate=lead,members${lean}`);
      const [entity] = [reply.body].flat() as [{ lead: Json; members: Json[] }];
      assertEquals([entity.lead._id, entity.lead.name, entity.members[0]?._id], [user, "a", user]);
      assertEquals([path, lean, leaks(reply.text)], [path, lean, []]);
    }
  }
});

test("options.populate hides no less through a virtual reference", async () => {
  await using app = await mount([User, Team]);
  await teamOf(app);
  for (const lean of ["", "&lean"]) {
    const reply = await app.get(`/teams?populate=fans${lean}`);
    assertEquals([reply.status, lean, leaks(reply.text)], [200, lean, []]);
  }
});

test("prop() refers to the class that it names, whoever shares that name", async () => {
  const [One, Two] = ["first_twins", "second_twins"].map((collection) => {
    class Twin extends FrameworkModel {
      static override schemaOptions: SchemaOptions = { collection };
      @prop()
      name?: string;
      @prop({ hidden: collection === "second_twins" })
      secret?: string;
    }
    return Twin;
  }) as [typeof User, typeof User];
  @rest({ route: "/parents", methods: [all({ preFetch: populate })] })
  class TwinParent extends FrameworkModel {
    @prop({ ref: One })
    one?: string;
    @prop({ ref: () => Two })
    two?: string;
  }
  await using app = await mount([TwinParent]);
  const one = await getModel(One).create({ name: "a", secret: "s1" });
  const two = await getModel(Two).create({ name: "b", secret: "s2" });
  await getModel(TwinParent).create({ one: one.id, two: two.id });
  for (const lean of ["", "&lean"]) {
    const { body, text } = await app.get<Record<string, Json>[]>(
      `/parents?populate=one,two${lean}`,
    );
    assertEquals([body[0]?.one?.name, body[0]?.two?.name, leaks(text)], ["a", "b", ["s1"]]);
  }
});
