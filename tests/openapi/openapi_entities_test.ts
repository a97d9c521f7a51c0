import { assert, assertEquals } from "@std/assert";
import { FrameworkModel, getModel } from "../../mod.ts";
import {
  all,
  and,
  arrayProp,
  create,
  one,
  onlyIf,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import { documentOf, mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";

@rest({ route: "/actors", methods: [create()] })
class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ hidden: true })
  phone?: string;
  @prop({ type: Number })
  age?: number;
}

@rest({
  route: "/movies",
  methods: [
    all({ select: ["name", "actors"], populate: { actors: { select: ["name"] }, star: true } }),
    one({ populate: { star: { always: true } } }),
    create(),
    update({ preSend: (_req, { _id, name }) => ({ _id, name: [name, null], extra: true }) }),
  ],
  schemaOptions: { timestamps: true },
})
@rest({ route: "/short", methods: [all({ preSend: (_req, { name }) => ({ name }) })] })
class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ default: null })
  rating?: string | null;
  @prop({ hidden: true })
  secret?: string;
  @prop({ ref: Actor })
  star?: Ref<Actor>;
  @arrayProp({ items: Actor })
  actors?: Ref<Actor>[];
}

const MODELS = [Movie, Actor];

test("answers are as the document says, with chosen fields and entities for identifiers", async () => {
  await using app = await mountDocumented(MODELS);
  const actor = await app.created("/actors", { name: "Ada", phone: "1", age: "" });
  const gone = "0123456789abcdef01234567";
  const body = { name: "Alien", secret: "s", star: gone, actors: [actor._id, gone] };
  const { _id } = await app.created("/movies", body);
  await app.created("/movies", { name: "Heat", star: actor._id });
  const isList = app.validator(app.answer("GET", "/movies"));
  for (
    const query of ["", "?select=name", "?populate=actors,star", "?select=actors&populate=actors"]
  ) {
    const list = await app.read<unknown[]>(`/movies${query}`);
    assert(isList(list), `${query} ${JSON.stringify(isList.errors)} ${JSON.stringify(list)}`);
  }
  const isOne = app.validator(app.answer("GET", "/movies/{id}"));
  assert(isOne(await app.read(`/movies/${_id}`)), JSON.stringify(isOne.errors));
  const isShort = app.validator(app.answer("GET", "/short"));
  assert(isShort(await app.read("/short")), JSON.stringify(isShort.errors));
});

test("an entity has the fields that every write gives it", async () => {
  await using app = await mountDocumented(MODELS);
  const { required } = app.schemas.Movie as { required: string[] };
  const made = await app.created("/movies", { name: "Alien" });
  assertEquals(Object.keys(made).sort(), [...required].sort());
  await getModel(Movie).collection.updateOne({}, { $unset: { actors: 1, rating: 1 } });
  const { star: _, ...read } = await app.read(`/movies/${made._id}`);
  assertEquals(Object.keys(read).sort(), [...required].sort());
});

test("hidden fields are in bodies alone", async () => {
  const { schemas } = await documentOf(MODELS);
  const named = (schema: string) =>
    Object.keys((schemas[schema] as { properties: object }).properties);
  const withSecrets = Object.keys(schemas).filter((schema) =>
    JSON.stringify(schemas[schema]).match(/"(secret|phone)"/)
  );
  assertEquals(withSecrets.sort(), ["ActorNew", "MovieNew", "MoviePatch"]);
  assertEquals(named("MovieNew").includes("createdAt"), false);
});

test("what hooks send has no field that must be there, and may say null", async () => {
  const { schemas, answer } = await documentOf(MODELS);
  assertEquals(answer("PATCH", "/movies/{id}"), { $ref: "#/components/schemas/MovieSent" });
  const { required, properties } = schemas.MovieSent as {
    required?: string[];
    properties: Record<string, unknown>;
  };
  assertEquals(required, undefined);
  assertEquals(properties.name, { anyOf: [{ type: "string" }, { type: "null" }] });
});

test("classes of one name have schemas of their own", async () => {
  const make = (path: `/${string}`, collection: string) => {
    @rest({ route: path, methods: [all()], schemaOptions: { collection } })
    class Same extends FrameworkModel {
      @prop({ required: true })
      text!: string;
    }
    return Same;
  };
  const { answer, schemas } = await documentOf([make("/a", "as"), make("/b", "bs")]);
  const items = ["/a", "/b"].map((path) => (answer("GET", path).items as { $ref: string }).$ref);
  assertEquals(items, ["#/components/schemas/Same", "#/components/schemas/Same2"]);
  assert("Same2" in schemas && "Same2Filter" in schemas === false && "SameFilter2" in schemas);
});

const isNamed = onlyIf<Kept>((_req, { name }) => name !== "secret");

@rest({ route: "/plain", methods: [all(), one(), create()] })
@rest({
  route: "/kept",
  methods: [all({ postFetch: isNamed }), one({ preSend: and(isNamed, isNamed) })],
})
@rest({ route: "/sent", methods: [all({ preSend: (_req, kept) => kept })] })
class Kept extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

test("hooks that only pass or reject leave the answer as it is described without them", async () => {
  await using app = await mountDocumented([Kept]);
  const answerOf = (path: string) => JSON.stringify(app.answer("GET", path));
  assertEquals(answerOf("/kept"), answerOf("/plain"));
  assertEquals(answerOf("/kept/{id}"), answerOf("/plain/{id}"));
  assert(answerOf("/sent") !== answerOf("/plain"));
  await app.created("/plain", { name: "a" });
  await app.created("/plain", { name: "secret" });
  assertEquals((await app.read<object[]>("/kept")).length, 1);
});
