// Runs alone: names of models depend on those of other classes.
import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type QueryObject,
  type Ref,
  rest,
} from "../../../mod.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { put } from "../../fixtures/songs.ts";
import { withDatabase } from "../../harness/database_uri.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../../support/support.ts";

/** What scopes have seen of their requests. */
const seen: unknown[] = [];

async function ofTenant(req: FrameworkRequest): Promise<QueryObject> {
  const { framework, headers } = req;
  const { operation, filter, options } = framework;
  seen.push([operation, { ...filter }, { ...options }, (await framework.model()).modelName]);
  framework.filter.left = 1;
  return { tenant: String(headers["x-tenant"]) };
}

async function ofMembers(req: FrameworkRequest): Promise<QueryObject> {
  return { ...await ofTenant(req), left: { $ne: true } };
}

@rest({ route: "/users", methods: [one()], scope: ofMembers, main: true })
@rest({ route: "/left", methods: [one()], scope: () => ({ left: true }) })
class User extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  tenant?: string;
  @prop({ type: Boolean, select: false })
  left?: boolean;
  @prop({ type: Object })
  more?: Record<string, unknown>;
}

/** Its documents show more than is stored. */
@rest({ route: "/guests", methods: [one()], scope: ofTenant })
class Customer extends FrameworkModel {
  static override schemaOptions = { toJSON: { virtuals: true }, id: false };
  @prop()
  name?: string;
  @prop({ hidden: true })
  tenant?: string;
}

const populate = {
  owner: { always: true },
  readers: { always: true, select: ["name"] },
  customer: true,
  customers: { select: ["name"] },
} as const;
const filters: unknown[] = [];

function watch<E>({ framework }: FrameworkRequest, entity: E): E {
  filters.push([framework.operation, { ...framework.filter }]);
  return entity;
}

@rest({ route: "/plain", methods: [all({ populate }), one({ populate })] })
@rest({
  route: "/hooked",
  methods: [all({ populate, postFetch: watch }), one({ populate, preSend: watch })],
})
class Note extends FrameworkModel {
  @prop({ ref: User })
  owner?: Ref<User>;
  @arrayProp({ items: User })
  readers?: Ref<User>[];
  @prop({ ref: Customer })
  customer?: Ref<Customer>;
  @arrayProp({ items: Customer })
  customers?: Ref<Customer>[];
}

/** Stores users of two tenants, one of them without access, and notes about them. */
async function store() {
  const ids = await put(
    User,
    { name: "Ann", tenant: "a", more: { tenant: "a" } },
    { name: "Bob", tenant: "b" },
    { name: "Cid", tenant: "a", left: true },
  );
  const notes = await put(Note, ...ids.map((owner) => ({ owner, readers: ids })));
  return { ids, notes };
}

for (const path of ["/plain", "/hooked"]) {
  test(`${path} shows no entity outside of the main scope of its class`, async () => {
    await using app = await mount([Note]);
    const { ids: [ann, bob], notes } = await store();
    const as = (tenant: string) => ({ headers: { "x-tenant": tenant } });
    const list = await app.read<EntityBody[]>(path, as("a"));
    const shown = { _id: ann, name: "Ann", __v: 0, more: { tenant: "a" } };
    assertEquals(list.map(({ owner }) => owner), [shown, null, null]);
    assertEquals(list.map(({ readers }) => readers), Array(3).fill([{ _id: ann, name: "Ann" }]));
    const single = await app.read(`${path}/${notes[1]}`, as("b"));
    const { owner, readers } = single;
    assertEquals([owner, readers], [
      { _id: bob, name: "Bob", __v: 0 },
      [{ _id: bob, name: "Bob" }],
    ]);
    assertEquals((await app.read(`${path}/${notes[0]}`, as("none"))).owner, null);
  });

  test(`${path} shows no document outside of the scope of its class`, async () => {
    await using app = await mount([Note]);
    const [ann, bob] = await put(
      Customer,
      { name: "Ann", tenant: "a" },
      { name: "Bob", tenant: "b" },
    );
    const both = [ann, bob];
    await put(Note, { customer: ann, customers: both }, { customer: bob, customers: both });
    const asked = `${path}?populate=customer,customers`;
    const list = await app.read<EntityBody[]>(asked, { headers: { "x-tenant": "b" } });
    const shown = { _id: bob, name: "Bob", __v: 0 };
    assertEquals(list.map(({ customer }) => customer), [null, shown]);
    assertEquals(
      list.map(({ customers }) => customers),
      Array(2).fill([{ _id: bob, name: "Bob" }]),
    );
  });

  test(`${path} evaluates a scope once per request, as for a read of its own model`, async () => {
    await using app = await mount([Note]);
    await store();
    seen.length = filters.length = 0;
    const sent = await watchCommands(app.database.uri);
    await app.read(path, { headers: { "x-tenant": "a" } });
    assertEquals(seen, [["one", {}, {}, "User"]]);
    assertEquals(sent.map(({ command }) => command.find).sort(), ["notes", "users", "users"]);
    assertEquals(filters, path === "/hooked" ? Array(3).fill(["all", {}]) : []);
  });
}

test("a scope that cannot be used answers 500", async () => {
  for (const scope of [() => ({ name: undefined }), () => undefined]) {
    @rest({ route: "/broken", methods: [one()], scope: scope as never })
    class Broken extends FrameworkModel {
      @prop()
      name?: string;
    }
    @rest({ route: "/refers", methods: [all({ populate: { to: { always: true } } })] })
    class Refers extends FrameworkModel {
      @prop({ ref: Broken })
      to?: Ref<Broken>;
    }
    using _log = stub(console, "error");
    await using app = await mount([Refers]);
    await put(Refers, { to: (await put(Broken, { name: "x" }))[0] });
    const { status, body } = await app.get<ErrorBody>("/refers");
    assertEquals([status, body.code], [500, "INTERNAL"]);
  }
});

class Guest extends FrameworkModel {
  @prop()
  name?: string;
}

let elsewhere = mongoose.connection;

@rest({
  route: "/visits",
  methods: [all({ populate: { by: { always: true } } })],
  getConnection: () => elsewhere,
})
class Visit extends FrameworkModel {
  @prop({ ref: Guest })
  by?: Ref<Guest>;
}

test("entities come from the connection of the request", async () => {
  await using app = await mount([Visit]);
  const { name } = mongoose.connection;
  elsewhere = await mongoose.createConnection(withDatabase(app.database.uri, `${name}_2`))
    .asPromise();
  try {
    const [here] = await put(Guest, { name: "here" });
    const there = await getModel(Guest, elsewhere).create({ name: "there" });
    await getModel(Visit, elsewhere).insertMany([{ by: here }, { by: there._id }] as never[]);
    const list = await app.read<EntityBody[]>("/visits");
    assertEquals(list.map(({ by }) => (by as EntityBody | null)?.name), [undefined, "there"]);
  } finally {
    await elsewhere.dropDatabase();
    await elsewhere.close();
  }
});
