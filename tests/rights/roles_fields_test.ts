import { assert, assertEquals } from "@std/assert";
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
  remove,
  rest,
  RestError,
  type Restricted,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../support/support.ts";

const AGENT = { headers: { "x-role": "agent" } };

/** How often the function below was asked by the request at hand. */
let asked = 0;

function isCustomer(req: FrameworkRequest): boolean {
  asked++;
  return req.headers["x-role"] !== "agent";
}

class Comment extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ hidden: isCustomer })
  remark?: string;
}

class Person extends FrameworkModel {
  static override schemaOptions = { collection: "roles_people" };
  @prop({ required: true })
  name!: string;
  @prop({ hidden: isCustomer })
  phone?: string;
}

const list = all({
  page: { max: 10 },
  sort: ["title", "score"],
  select: ["title", "score"],
  search: ["title", "note"],
  populate: { owner: true },
  count: true,
});
const comments = [all(), one(), create(), update(), remove()];

@rest({ route: "/tickets", methods: [list, one(), create(), update(), remove()] })
class Ticket extends FrameworkModel {
  static override schemaOptions = { collection: "roles_tickets" };
  @prop({ required: true })
  title!: string;
  @prop({ hidden: isCustomer, default: "none" })
  note!: Restricted<string>;
  @prop({ type: Number, hidden: isCustomer, unique: true, sparse: true, max: 9 })
  score?: number;
  @prop({ readonly: isCustomer, enum: ["open", "closed"], default: "open" })
  state!: string;
  @prop({ type: () => Comment })
  first?: Comment;
  @rest({ methods: comments })
  @arrayProp({ items: Comment, embedded: true })
  comments?: Comment[];
  @rest({ methods: [all(), create()] })
  @arrayProp({ items: Comment, embedded: true, hidden: isCustomer })
  internal?: Comment[];
  @prop({ ref: Person })
  owner?: Ref<Person>;
}

async function store() {
  const owner = await getModel(Person).create({ name: "Ann", phone: "123" });
  return await getModel(Ticket).create({
    ...{ title: "one", note: "secret", score: 1, state: "open", owner: owner._id },
    ...{ first: { text: "a", remark: "b" }, comments: [{ text: "c", remark: "d" }] },
    internal: [{ text: "e", remark: "f" }],
  });
}

async function open(): Promise<Mounted & { path: string; id: unknown }> {
  const app = await mount([Ticket]);
  const { _id: id } = await store();
  return { ...app, path: `/tickets/${id}`, id };
}

test("a function hides a field from some, in answers", async () => {
  await using app = await open();
  const seen = await app.read<Record<string, unknown>>(app.path);
  assertEquals(Object.keys(seen).sort(), [
    ...["__v", "_id", "comments", "first", "owner", "state", "title"],
  ]);
  const text = JSON.stringify([seen, await app.read("/tickets")]);
  assert(!/secret|remark|internal|score/.test(text), text);
  const whole = await app.read<Record<string, unknown>>(app.path, AGENT);
  assertEquals([whole.note, whole.score], ["secret", 1]);
  assert(JSON.stringify(whole).includes('"remark":"d"'));
  assert(JSON.stringify(whole).includes('"text":"e"'));
});

test("a function hides a field from some, in q", async () => {
  await using app = await open();
  for (const query of ["note", "score", "first.remark", "comments.remark", "internal.text"]) {
    const q = asQuery({ [query]: { $exists: true } });
    assertEquals((await app.get(`/tickets${q}`)).status, 400, query);
    assertEquals((await app.get(`/tickets${q}`, AGENT)).status, 200, query);
    assertEquals((await app.get(`${app.path}${q}`)).status, 400, query);
    assertEquals((await app.patch(`${app.path}${q}`, { title: "one" })).status, 400, query);
  }
});

test("a function hides a field from some, in sort, select and search", async () => {
  await using app = await open();
  assertEquals((await app.get("/tickets?sort=-score")).status, 400);
  assertEquals((await app.get("/tickets?sort=-score", AGENT)).status, 200);
  const { status, body: { message } } = await app.get<ErrorBody>("/tickets?select=score");
  assertEquals(status, 400);
  assert(!message.replace(/"[^"]*"$/, "").includes("note"), message);
  assertEquals(await app.read<unknown[]>("/tickets?search=secret"), []);
  assertEquals((await app.read<unknown[]>("/tickets?search=secret", AGENT)).length, 1);
});

test("a function hides a field from some, in what a reference names", async () => {
  await using app = await open();
  const url = "/tickets?populate=owner";
  const [seen] = await app.read<{ owner: object }[]>(url);
  assertEquals(Object.keys(seen?.owner ?? {}).sort(), ["__v", "_id", "name"]);
  const [whole] = await app.read<{ owner: object }[]>(url, AGENT);
  assertEquals(Object.keys(whole?.owner ?? {}).sort(), ["__v", "_id", "name", "phone"]);
});

test("whom a function keeps from a field cannot set it", async () => {
  await using app = await open();
  const body = { title: "two", note: "new", score: 2, state: "closed", first: { remark: "x" } };
  assertEquals((await app.patch(app.path, body)).status, 200);
  const stored = await getModel(Ticket).findById(app.id).lean();
  assertEquals(
    [stored?.title, stored?.note, stored?.score, stored?.state, stored?.first?.remark],
    ["two", "secret", 1, "open", "b"],
  );
  const { note, state } = await app.updated(app.path, body, AGENT);
  assertEquals([note, state], ["new", "closed"]);
});

test("what is below a hidden property is not there", async () => {
  await using app = await open();
  assertEquals((await app.get(`${app.path}/internal`)).status, 404);
  assertEquals((await app.post(`${app.path}/internal`, { text: "x" })).status, 404);
  assertEquals((await app.get(`${app.path}/internal`, AGENT)).status, 200);
  const [comment] = await app.read<Record<string, unknown>[]>(`${app.path}/comments`);
  assertEquals(Object.keys(comment ?? {}).sort(), ["_id", "text"]);
});

test("a function is asked once for each request", async () => {
  await using app = await mount([Ticket]);
  const { _id } = await store();
  for (const path of ["/tickets", `/tickets/${_id}`, "/tickets?populate=owner&sort=title"]) {
    asked = 0;
    await app.read(path);
    assertEquals(asked, 1, path);
  }
});

function tell(req: FrameworkRequest): boolean {
  switch (req.headers["x-tell"]) {
    case "nothing":
      return undefined as unknown as boolean;
    case "refuses":
      throw new RestError(402, { message: "pay first" });
    case "throws":
      throw new Error("broken inside");
    case "promise":
      return Promise.resolve(false) as unknown as boolean;
    default:
      return false;
  }
}

function withUser(req: FrameworkRequest): boolean {
  Object.assign(req, { user: "someone" });
  return true;
}

function showsAll(_req: FrameworkRequest, entity: Entity<Odd>) {
  return { copy: entity.toObject(), spread: { ...entity }, list: [entity], own: entity };
}

const needsUser = (req: FrameworkRequest) =>
  (req as unknown as { user?: string }).user !== "someone";

@rest({
  route: "/odd",
  methods: [
    all({ preFetch: withUser }),
    one({ preFetch: withUser, preSend: (_req, odd) => odd }),
    create(),
  ],
})
@rest({ route: "/shown", methods: [all({ preFetch: withUser, preSend: showsAll })] })
class Odd extends FrameworkModel {
  static override schemaOptions = { collection: "roles_odd" };
  @prop({ hidden: tell })
  a?: string;
  @prop({ hidden: needsUser })
  b?: string;
}

test("anything but false hides; what is wrong is an error that names class and property", async () => {
  const reported: unknown[] = [];
  await using app = await mount([Odd], { onError: (_req, error) => void reported.push(error) });
  await getModel(Odd).create({ a: "A", b: "B" });
  const read = (told: string) => app.get("/odd", { headers: { "x-tell": told } });
  const seen = (await read("nothing")).body as object[];
  assertEquals(Object.keys(seen[0] ?? {}).sort(), ["__v", "_id", "b"]);
  assertEquals((await read("refuses")).status, 402);
  for (const told of ["throws", "promise"]) {
    reported.length = 0;
    const answer = await read(told);
    assertEquals(answer.status, 500);
    assert(!answer.text.includes("inside"));
    assert(/"a" of "Odd"/.test(String(reported[0])), String(reported[0]));
  }
  const [shown] = await app.read<Record<string, unknown>[]>("/shown?x");
  assert(JSON.stringify(shown).includes('"A"'));
  const hidden = await app.get("/shown", { headers: { "x-tell": "nothing" } });
  const { text } = hidden;
  assert(!text.includes('"A"') && text.split('"B"').length === 5, text);
});

test("JSON that the application makes of a document shows what nobody is kept from", async () => {
  await using _app = await mount([Odd]);
  const odd = await getModel(Odd).create({ a: "A", b: "B" });
  assertEquals(Object.keys(JSON.parse(JSON.stringify(odd))).sort(), ["__v", "_id"]);
});
