import { assertEquals } from "@std/assert";
import {
  action,
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
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { gate } from "../../support/race.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted } from "../../support/support.ts";

/** What happens between the read and the first save of an action. */
let meanwhile: () => unknown = () => {};

/** The error of the save of an action, as the action gets it. */
let refused: unknown;

/** What happens between its first save and its second. */
let between: () => unknown = () => {};

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] === "customer";
const orgOf = (req: FrameworkRequest) => req.headers["x-org"];
const inOrg = (req: FrameworkRequest) => orgOf(req) === undefined ? {} : { org: orgOf(req) };

class Counted extends FrameworkModel {
  @prop({ type: Number, default: 0 })
  count!: number;
  @prop({ default: "open" })
  state!: string;
  @prop({ default: "a" })
  org!: string;
  @prop({ hidden: isCustomer })
  note?: Restricted<string>;
}

class Move extends FrameworkModel {
  @prop({ required: true })
  org!: string;
}

const close = action("close", {
  on: "one",
  run: async (_req, entity: Entity<Counted>) => {
    entity.state = "closed";
    await meanwhile();
    await entity.save().catch((error) => {
      refused = error;
      throw error;
    });
    return entity;
  },
});

const twice = action("twice", {
  on: "one",
  run: async (_req, entity: Entity<Counted>) => {
    entity.count++;
    await entity.save();
    await between();
    entity.count++;
    return await entity.save();
  },
});

const move = action("move", {
  on: "one",
  body: Move,
  run: async (_req, entity: Entity<Counted>, { org }) => {
    entity.org = org;
    return await entity.save();
  },
});

const look = action("look", {
  on: "one",
  method: "GET",
  run: (_req, entity: Entity<Counted>) => entity,
});

const rewrite = action("rewrite", {
  on: "one",
  body: Counted,
  run: async (_req, entity: Entity<Counted>, { note, state }) => {
    entity.state = state;
    if (note !== undefined) entity.note = note;
    return await entity.save();
  },
});

/** Its answer is of the class whose fields a role may not see. */
const summary = action("summary", {
  on: "all",
  method: "GET",
  answer: Counted,
  run: (_req, _selected) => ({ count: 1, state: "open", org: "a", note: "secret" }),
});

const own = [one(), create(), update(), remove(), close, twice, move, look];
const listed = [all(), ...own];

class Person extends Counted {
  static override schemaOptions = { collection: "saved_people" };
}

class Item extends Counted {}

@rest({ route: "/plain", methods: [summary] })
class Plain extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({
  route: "/tickets",
  scope: inOrg,
  methods: [...listed, rewrite, summary],
})
@rest({ route: "/strict", ifMatch: true, methods: [...listed] })
class Ticket extends Counted {
  static override schemaOptions = { collection: "saved_tickets" };

  @rest({ methods: listed, scope: inOrg })
  @arrayProp({ items: Item, embedded: true, apart: false })
  items?: Item[];

  @rest({ methods: own, scope: inOrg })
  @prop({ type: Item, apart: false })
  item?: Item;

  @rest({ methods: listed, scope: inOrg })
  @arrayProp({ items: () => Person })
  people?: Ref<Person>[];

  @rest({ methods: own, scope: inOrg })
  @prop({ ref: () => Person })
  person?: Ref<Person>;
}

/** Every kind of place, with one entity in each. */
async function places(app: Mounted): Promise<[name: string, path: string][]> {
  const { _id } = await app.created("/tickets", {});
  const parent = `/tickets/${_id}`;
  const item = await app.created(`${parent}/items`, {});
  await app.created(`${parent}/item`, {});
  const person = await app.created(`${parent}/people`, {});
  await app.created(`${parent}/person`, {});
  return [
    ["a root", parent],
    ["an element", `${parent}/items/${item._id}`],
    ["one embedded", `${parent}/item`],
    ["one of the references", `${parent}/people/${person._id}`],
    ["a reference", `${parent}/person`],
  ];
}

/** Runs a test in every kind of place. */
function everywhere(name: string, run: (app: Mounted, path: string) => Promise<void>): void {
  test(name, async (t) => {
    await using app = await mount([Ticket]);
    for (const [place, path] of await places(app)) {
      await t.step(place, async () => {
        try {
          await run(app, path);
        } finally {
          meanwhile = between = () => {};
        }
      });
    }
  });
}

const tagOf = async (app: Mounted, path: string): Promise<string> =>
  (await app.get(path)).headers.get("etag") ?? "";

const sortedStatuses = (replies: readonly { readonly status: number }[]): number[] =>
  replies.map(({ status }) => status).sort();

everywhere("an action is bound to If-Match", async (app, path) => {
  const tag = await tagOf(app, path);
  const send = (ifMatch: string, action = "twice") =>
    app.post(`${path}/${action}`, undefined, { headers: { "if-match": ifMatch } });

  const current = await send(tag);
  const stale = await send(tag);
  const looked = await app.get(`${path}/look`, { headers: { "if-match": tag } });

  assertEquals([current.status, current.body.count], [200, 2], current.text);
  assertEquals([stale.status, stale.body.code], [412, "PRECONDITION_FAILED"]);
  assertEquals(looked.status, 412);
  assertEquals((await app.read<EntityBody>(path)).count, 2);
  assertEquals(current.headers.get("etag"), await tagOf(app, path));
  assertEquals((await send(current.headers.get("etag") ?? "")).status, 200);
  assertEquals((await send("*")).status, 200);
});

everywhere("every save in one run is written", async (app, path) => {
  const reply = await app.post(`${path}/twice`);

  assertEquals(reply.status, 200, reply.text);
  assertEquals(await app.read(path), reply.body);
  assertEquals(reply.body.count, 2);
});

everywhere("what has changed before the first save of an action is a 409", async (app, path) => {
  meanwhile = () => app.updated(path, { count: 7 });

  const reply = await app.post(`${path}/close`);

  const { count, state } = await app.read<EntityBody>(path);
  assertEquals([reply.status, reply.body.code], [409, "CONFLICT"], reply.text);
  assertEquals([refused instanceof RestError, Object(refused).status], [true, 409]);
  assertEquals([count, state], [7, "open"]);
});

everywhere("with If-Match, what has changed before the save is a 412", async (app, path) => {
  meanwhile = () => app.updated(path, { count: 7 });

  const headers = { "if-match": await tagOf(app, path) };
  const reply = await app.post(`${path}/close`, undefined, { headers });

  assertEquals(reply.status, 412, reply.text);
  assertEquals((await app.read<EntityBody>(path)).state, "open");
});

everywhere(
  "what has changed between two saves is a 409, and nothing is lost",
  async (app, path) => {
    between = () => app.updated(path, { count: 7 });

    const reply = await app.post(`${path}/twice`);

    assertEquals(reply.status, 409, reply.text);
    assertEquals((await app.read<EntityBody>(path)).count, 7);
  },
);

everywhere("what was removed before the save is not there again", async (app, path) => {
  if (/^\/tickets\/[^/]*$/.test(path)) return;
  meanwhile = () => app.delete(path);

  const reply = await app.post(`${path}/close`);

  assertEquals(reply.status, 409, reply.text);
  assertEquals((await app.get(path)).status, 404);
});

everywhere("of two actions at once, one is refused", async (app, path) => {
  const pass = gate(2);
  meanwhile = () => pass(undefined, undefined);

  const replies = await Promise.all([1, 2].map(() => app.post(`${path}/close`)));

  assertEquals(sortedStatuses(replies), [200, 409]);
});

everywhere(
  "an action cannot save what its scope does not allow, as an update",
  async (app, path) => {
    const options = { headers: { "x-org": "a" } };

    const updated = await app.patch(path, { org: "b" }, options);
    const moved = await app.post(`${path}/move`, { org: "b" }, options);
    const within = await app.post(`${path}/move`, { org: "a" }, options);

    assertEquals([moved.status, moved.body], [updated.status, updated.body]);
    assertEquals(moved.status, 403);
    assertEquals((await app.read<EntityBody>(path)).org, "a");
    assertEquals(within.status, 200, within.text);
  },
);

everywhere("an entity that has left the scope is not saved", async (app, path) => {
  meanwhile = () => app.updated(path, { org: "b" });

  const reply = await app.post(`${path}/close`, undefined, { headers: { "x-org": "a" } });

  assertEquals([403, 404, 409].includes(reply.status), true, reply.text);
  assertEquals((await app.read<EntityBody>(path)).state, "open");
});

everywhere("q binds the first save, and no other", async (app, path) => {
  const q = `?q=${encodeURIComponent('{"count":0}')}`;

  const reply = await app.post(`${path}/twice${q}`);
  const again = await app.post(`${path}/twice${q}`);

  assertEquals([reply.status, reply.body.count], [200, 2], reply.text);
  assertEquals(again.status, 404);
});

test("ifMatch: required asks for If-Match, except where nothing changes", async () => {
  await using app = await mount([Ticket]);
  const { _id } = await app.created("/tickets", {});
  const path = `/strict/${_id}`;

  const without = await app.post(`${path}/move`, {});
  const looked = await app.get(`${path}/look`);
  const headers = { "if-match": looked.headers.get("etag") ?? "" };
  const matched = await app.post(`${path}/close`, undefined, { headers });

  assertEquals([without.status, without.body.code], [428, "PRECONDITION_REQUIRED"]);
  assertEquals(looked.status, 200);
  assertEquals(matched.status, 200, matched.text);
});

everywhere("what a role may not see is not in the answer of an action", async (app, path) => {
  const headers = { "x-role": "customer" };
  await app.updated(path, { note: "secret" });

  for (const name of ["close", "twice"]) {
    const forAgent = await app.post(`${path}/${name}`);
    const forCustomer = await app.post(`${path}/${name}`, undefined, { headers });

    assertEquals([forAgent.body.note, forCustomer.body.note], ["secret", undefined], name);
    assertEquals(forCustomer.status, 200, forCustomer.text);
  }
  const looked = await app.get<EntityBody>(`${path}/look`, { headers });
  assertEquals([looked.status, looked.body.note], [200, undefined]);
  assertEquals((await app.read<EntityBody>(path)).note, "secret");
});

test("what a role may not see is neither set by a body of the class nor in an answer of it", async () => {
  await using app = await mount([Ticket, Plain]);
  const { _id } = await app.created("/tickets", { note: "a" });
  const headers = { "x-role": "customer" };
  const path = `/tickets/${_id}/rewrite`;

  const customer = await app.post(path, { note: "b", state: "c" }, { headers });
  assertEquals([customer.status, customer.body.note, customer.body.state], [200, undefined, "c"]);
  assertEquals((await app.read<EntityBody>(`/tickets/${_id}`)).note, "a");

  const agent = await app.post(path, { note: "b", state: "d" });
  assertEquals([agent.status, agent.body.note], [200, "b"]);

  for (const route of ["/tickets", "/plain"]) {
    const shown = await app.get<EntityBody>(`${route}/summary`);
    const kept = await app.get<EntityBody>(`${route}/summary`, { headers });
    assertEquals([shown.body.note, kept.body.note], ["secret", undefined], route);
  }
});

test("a unique value that is taken is a 409 of the action that saves it", async () => {
  @rest({
    route: "/slots",
    methods: [
      action<Slot>("name", {
        on: "one",
        run: async (_req, slot) => {
          slot.name = "a";
          return await slot.save();
        },
      }),
    ],
  })
  class Slot extends FrameworkModel {
    @prop({ unique: true, sparse: true })
    name?: string;
  }
  await using app = await mount([Slot]);
  const model = getModel(Slot);
  await model.init();
  await model.create({ name: "a" });
  const { _id } = await model.create({});
  const { status, body } = await app.post<ErrorBody>(`/slots/${_id}/name`);
  assertEquals([status, body.fields], [409, ["name"]]);
});
