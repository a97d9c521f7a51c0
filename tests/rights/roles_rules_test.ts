import { assertEquals, assertRejects } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
  RestError,
  type Restricted,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount } from "../support/support.ts";

const AGENT = { headers: { "x-role": "agent" } };
const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";

function fill(_req: FrameworkRequest, ticket: Entity<Ticket>) {
  ticket.team ??= "first";
  return ticket;
}

@rest({ route: "/bare", methods: [create(), one(), update()], main: true })
@rest({ route: "/filled", methods: [all(), create({ preSave: fill })] })
class Ticket extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ required: true, hidden: isCustomer })
  team!: Restricted<string>;
}

test("a required field that its creator cannot see is a 400 that names it, unless a hook sets it", async () => {
  await using app = await mount([Ticket]);
  for (const body of [{ title: "a" }, { title: "a", team: "mine" }]) {
    const { status, body: told } = await app.post<ErrorBody>("/bare", body);
    assertEquals([status, Object.keys(told.errors ?? {})], [400, ["team"]]);
    const filled = await app.created("/filled", body);
    assertEquals("team" in filled, false);
    const whole = await app.read<Record<string, unknown>>(`/bare/${filled._id}`, AGENT);
    assertEquals(whole.team, "first");
  }
  assertEquals((await app.created("/bare", { team: "mine" }, AGENT)).team, "mine");
});

test("readers who see different fields get the same version, and tags of their own", async () => {
  await using app = await mount([Ticket]);
  const { _id } = await app.created("/bare", { team: "a" }, AGENT);
  const [mine, whole] = [await app.get(`/bare/${_id}`), await app.get(`/bare/${_id}`, AGENT)];
  const partsOf = ({ headers }: Response | typeof mine) =>
    (headers.get("etag") ?? "").replaceAll('"', "").split(".");
  const [[version, digest], [sameVersion, other]] = [partsOf(mine), partsOf(whole)];
  assertEquals([version, sameVersion, digest === other], ["0", "0", false]);
  const headers = { "if-match": whole.headers.get("etag") ?? "" };
  assertEquals((await app.patch(`/bare/${_id}`, { title: "b" }, { headers })).status, 200);
});

test("queryFor() asks the functions of fields for q", async () => {
  await using _app = await mount([Ticket]);
  const url = `/own${asQuery({ team: "a" })}`;
  const ask = (role: string) =>
    Framework.queryFor({ url, headers: { "x-role": role } } as never, Ticket);
  const { filter } = await ask("agent");
  assertEquals((filter.team as { $eq?: unknown }).$eq, "a");
  const { status } = await assertRejects(() => ask("customer"), RestError);
  assertEquals(status, 400);
});

@rest({
  route: "/bulk_tickets",
  methods: [updateAll({ fields: ["title", "state", "team"], atomic: false })],
})
class BulkTicket extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ readonly: isCustomer })
  state?: string;
  @prop({ hidden: isCustomer })
  team?: Restricted<string>;
}

test("updateAll() refuses a field of its list that a function hides, as an unknown one", async () => {
  await using app = await mount([BulkTicket]);
  const path = `/bulk_tickets${asQuery({})}`;
  const answers = ["team", "none"].map(async (name) => {
    const { status, text } = await app.patch(path, { [name]: "mine" });
    return [status, text.replaceAll(name, "field")];
  });
  const [hidden, unknown] = await Promise.all(answers);
  assertEquals(hidden, unknown);
  assertEquals(hidden?.[0], 400);
  assertEquals((await app.patch(path, { team: "mine" }, AGENT)).status, 200);
});

class Leaf extends FrameworkModel {
  @prop()
  text?: string;
}

class Twig extends FrameworkModel {
  @rest({ methods: [all()] })
  @arrayProp({ items: Leaf, embedded: true })
  leaves?: Leaf[];
}

@rest({ route: "/trees", methods: [one()] })
class Tree extends FrameworkModel {
  @rest({ methods: [one()] })
  @arrayProp({ items: Twig, embedded: true, hidden: isCustomer })
  twigs?: Restricted<Twig[]>;
}

test("routes at any depth below a property that a function hides are 404", async () => {
  await using app = await mount([Tree]);
  const tree = await getModel(Tree).create({ twigs: [{ leaves: [{ text: "a" }] }] } as never);
  const { _id } = (tree as unknown as { twigs: [{ _id: unknown }] }).twigs[0];
  const twig = `/trees/${(tree as Tree)._id}/twigs/${_id}`;
  for (const path of [twig, `${twig}/leaves`]) {
    assertEquals((await app.get(path)).status, 404);
    assertEquals((await app.get(path, AGENT)).status, 200);
  }
});
