import { assertEquals } from "@std/assert";
import { minLength, pipe, string } from "valibot";
import { z } from "zod";
import { all, arrayProp, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";

class Address extends FrameworkModel {
  @prop({ required: true, validate: z.string().regex(/^\d{5}$/, "A code has 5 digits") })
  code!: string;
}

@rest({ route: "/people", methods: [all(), one(), create(), update()] })
class Person extends FrameworkModel {
  @prop({ required: true, validate: z.email("Not an address") })
  mail!: string;

  @prop({ validate: pipe(string(), minLength(3, "Too short")) })
  nick?: string;

  @prop({ validate: z.string().refine(async (name) => await Promise.resolve(name) !== "root") })
  login?: string;

  @prop({ hidden: true, validate: z.string().min(8, "12345 is short") })
  secret?: string;

  @prop({ type: Number, validate: [z.number().int("Not whole"), (age: number) => age < 150] })
  age?: number;

  @prop({ validate: [(text: string) => text !== "a", (text: string) => text !== "b"] })
  letter?: string;

  @arrayProp({ items: String, validate: z.array(z.string().max(3, "Too long")).max(2, "Many") })
  tags?: string[];

  @prop({ type: Address })
  address?: Address;

  @rest({ methods: [create(), update()] })
  @arrayProp({ items: Address, embedded: true })
  places?: Address[];

  @prop({
    type: Object,
    validate: z.object({
      size: z.number("No number"),
      inner: z.object({ a: z.string("No text") }),
    }),
  })
  extra?: { size: number; inner: { a: string } };
}

const ADA = { mail: "ada@example.org" };

test("a valid entity passes schemas of validation libraries", async () => {
  await using api = await mount([Person]);
  const person = await api.created("/people", {
    ...{ ...ADA, nick: "ada", login: "ada", secret: "long enough", age: 36, tags: ["a", "b"] },
    ...{ address: { code: "12345" }, extra: { size: 1, inner: { a: "b" } } },
  });
  assertEquals([person.mail, person.age, person.tags], [ADA.mail, 36, ["a", "b"]]);
});

test("issues of schemas become errors, each at its path", async () => {
  await using api = await mount([Person]);
  const { status, body } = await api.post<ErrorBody>("/people", {
    ...{ mail: "ada", nick: "a", age: 1.5, tags: ["a", "long"], address: { code: "1" } },
    extra: { size: "x", inner: { a: 1 } },
  });
  assertEquals(status, 400);
  const messages = Object.entries(body.errors ?? {}).map(([path, { message }]) => [path, message]);
  assertEquals(Object.fromEntries(messages), {
    mail: "Not an address",
    nick: "Too short",
    age: "Not whole",
    "tags.1": "Too long",
    "address.code": "A code has 5 digits",
    "extra.size": "No number",
    "extra.inner.a": "No text",
  });
});

test("an update is judged as a new entity is, and writes nothing if it fails", async () => {
  await using api = await mount([Person]);
  const { _id } = await api.created("/people", ADA);
  const { body } = await api.patch<ErrorBody>(`/people/${_id}`, {
    mail: "b",
    tags: ["a", "b", "c"],
  });
  assertEquals(Object.keys(body.errors ?? {}).sort(), ["mail", "tags"]);
  assertEquals((await api.read(`/people/${_id}`)).mail, ADA.mail);
});

test("an asynchronous schema is waited for", async () => {
  await using api = await mount([Person]);
  const { status, body } = await api.post<ErrorBody>("/people", { ...ADA, login: "root" });
  assertEquals([status, Object.keys(body.errors ?? {})], [400, ["login"]]);
});

test("a promise of a library of its own is waited for", async () => {
  const refused = { issues: [{ message: "Taken" }] };
  const validate = (): unknown => ({ then: (done: (result: object) => unknown) => done(refused) });
  @rest({ route: "/names", methods: [create()] })
  class Name extends FrameworkModel {
    @prop({ validate: { "~standard": { version: 1, vendor: "own", validate } } as never })
    text?: string;
  }
  await using api = await mount([Name]);
  const { status, body } = await api.post<ErrorBody>("/names", { text: "a" });
  assertEquals([status, body.errors?.text?.message], [400, "Taken"]);
});

test("a schema and a function judge one field together", async () => {
  await using api = await mount([Person]);
  const { body } = await api.post<ErrorBody>("/people", { ...ADA, age: 200 });
  assertEquals(Object.keys(body.errors ?? {}), ["age"]);
});

test("each function of a list judges", async () => {
  await using api = await mount([Person]);
  for (const [letter, status] of [["a", 400], ["b", 400], ["c", 201]] as const) {
    assertEquals((await api.post("/people", { ...ADA, letter })).status, status);
  }
});

test("the issue of a hidden field tells nothing of its value", async () => {
  await using api = await mount([Person]);
  const { body } = await api.post<ErrorBody>("/people", { ...ADA, secret: "12345" });
  assertEquals(body.errors?.secret?.message, 'Field "secret" is not valid');
});

test("null clears a field with a schema", async () => {
  await using api = await mount([Person]);
  const { _id } = await api.created("/people", { ...ADA, nick: "ada" });
  const person = await api.updated(`/people/${_id}`, { nick: null });
  assertEquals(Object.hasOwn(person, "nick"), false);
});

test("embedded elements are judged through their sub-routes too", async () => {
  await using api = await mount([Person]);
  const { _id } = await api.created("/people", ADA);
  const at = `/people/${_id}/places`;
  const { body } = await api.post<ErrorBody>(at, { code: "1" });
  assertEquals(body.errors?.code?.message, "A code has 5 digits");
  const place = await api.created(at, { code: "12345" });
  assertEquals((await api.patch(`${at}/${place._id}`, { code: "1" })).status, 400);
});

test("issues of an object with something hidden tell nothing of it, when values cannot be cast too", async () => {
  class Door extends FrameworkModel {
    @prop({ hidden: true })
    pin?: string;

    @prop()
    name?: string;
  }
  const message = ({ input }: { input?: unknown }) => JSON.stringify(input);
  const isOpen = z.any().refine(() => false, { path: ["name"], error: message as never });
  @rest({ route: "/houses", methods: [create()] })
  class House extends FrameworkModel {
    @prop({ type: Door, validate: isOpen as never })
    door?: Door;

    @prop({ type: Number })
    rank?: number;
  }
  await using api = await mount([House]);
  for (const rank of [1, "x"]) {
    const body = { door: { pin: "12345", name: "n" }, rank };
    const { text, body: { errors } } = await api.post<ErrorBody>("/houses", body);
    assertEquals([text.includes("12345"), errors?.door?.message], [
      false,
      'Field "door" is not valid',
    ]);
  }
});
