import { assertEquals, assertNotMatch, assertStringIncludes, assertThrows } from "@std/assert";
import {
  action,
  all,
  arrayProp,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

/** What every secret says here. */
const SECRET = /s3cret/;

@rest({ route: "/nodes", methods: [all()] })
class Node extends FrameworkModel {
  @prop({ select: false })
  pin?: string;
  @arrayProp({ items: () => Node, embedded: true })
  children?: Node[];
}

@rest({ route: "/knots", methods: [all(), one({ postFetch: pass })] })
class Knot extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  pin?: string;
  @arrayProp({ items: () => Knot, embedded: true })
  children?: Knot[];
}

test("a class that holds itself cannot have select: false, and can have hidden", async () => {
  assertThrows(
    () => Framework.initialize({ models: [Node] }),
    TypeError,
    'Cannot mount "Node": field "pin" has "select: false" in a class that holds itself: use "hidden"',
  );
  await using app = await mount([Knot]);
  const child = { name: "b", pin: "s3cret" } as Knot;
  const { _id } = await getModel(Knot).create({ name: "a", pin: "s3cret", children: [child] });
  for (const path of ["/knots", `/knots/${_id}`]) {
    const { text } = await app.get(path);
    assertStringIncludes(text, '"b"');
    assertNotMatch(text, SECRET);
  }
});

async function save(_req: FrameworkRequest, account: Entity<Account>): Promise<Entity<Account>> {
  return await account.save();
}

async function saveAndTell(req: FrameworkRequest, account: Entity<Account>): Promise<object> {
  const { _id, name, pin } = await save(req, account);
  return { _id, name, pin };
}

function selectPin({ framework }: FrameworkRequest): boolean {
  framework.projection = "+pin" as never;
  return true;
}

const copied = action("copied", {
  on: "one",
  postFetch: (_req: FrameworkRequest, account: Entity<Account>) => ({ ...account }),
  run: pass,
});

@rest({ route: "/accounts", methods: [update({ persist: save }), copied] })
@rest({ route: "/told", methods: [update({ persist: saveAndTell })] })
@rest({ route: "/selected", methods: [update({ preFetch: selectPin, persist: save })] })
class Account extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ select: false })
  pin?: string;
}

test("what persist gives shows no field with select: false that the request does not select", async (t) => {
  await using app = await mount([Account]);
  const { _id } = await getModel(Account).create({ name: "a", pin: "1234" });
  const cases = [["accounts", undefined], ["told", "1234"], ["selected", "1234"]] as const;
  for (const [route, pin] of cases) {
    await t.step(route, async () => {
      const shown = await app.updated(`/${route}/${_id}`, { name: route });
      assertEquals([shown.name, shown.pin], [route, pin]);
    });
  }
});

test("an action on a copy of its entity shows no field with select: false", async () => {
  await using app = await mount([Account]);
  const { _id } = await getModel(Account).create({ name: "a", pin: "1234" });
  const { status, body } = await app.post(`/accounts/${_id}/copied`);
  assertEquals([status, body.name, body.pin], [200, "a", undefined]);
});

class User extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  password?: string;
}

async function setMeta(_req: FrameworkRequest, post: Entity<Post>): Promise<Entity<Post>> {
  post.meta = { ...await getModel(User).findOne() };
  return post;
}

async function setWords(_req: FrameworkRequest, post: Entity<Post>): Promise<Entity<Post>> {
  post.words = new Map([["author", { ...await getModel(User).findOne() }]]);
  return post;
}

@rest({ route: "/posts", methods: [all({ preSend: setMeta })] })
@rest({ route: "/keyed", methods: [all({ preSend: setWords })] })
class Post extends FrameworkModel {
  @prop({ type: Object })
  meta?: object;
  @prop({ type: Map, of: Object })
  words?: Map<string, object>;
}

test("a spread of a document that a hook sets as free-form data shows nothing hidden", async (t) => {
  await using app = await mount([Post]);
  await getModel(User).create({ name: "Ann", password: "s3cret" });
  await getModel(Post).create({});
  for (const path of ["/posts", "/keyed"]) {
    await t.step(path, async () => {
      const { text } = await app.get(path);
      assertStringIncludes(text, '"name":"Ann"');
      assertNotMatch(text, SECRET);
    });
  }
});

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";

class Report extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  title?: string;
  @prop({ type: Object })
  ticket?: object;
}

const close = action("close", {
  on: "one",
  answer: Report,
  run: (_req: FrameworkRequest, ticket: Entity<Ticket>) => ({ ticket: { ...ticket } }),
});

const view = action("view", {
  on: "one",
  answer: Report,
  run: (_req: FrameworkRequest, ticket: Entity<Ticket>) => ({ ...ticket }),
});

@rest({ route: "/tickets", methods: [close, view] })
class Ticket extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ hidden: isCustomer })
  note?: string;
}

test("a spread of a document in the answer of an action shows its fields, and nothing hidden", async () => {
  await using app = await mount([Ticket]);
  const { _id } = await getModel(Ticket).create({ title: "a", note: "s3cret" });
  const closed = await app.post<{ ticket: EntityBody }>(`/tickets/${_id}/close`);
  assertEquals(closed.body.ticket.title, "a");
  assertNotMatch(closed.text, SECRET);
  const viewed = await app.post<unknown>(`/tickets/${_id}/view`);
  assertEquals(viewed.body, { title: "a" });
});
