import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import { asDocuments, pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

class Agent extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ select: false, default: "SECRET-default" })
  notes?: string;
  @prop({ hidden: true })
  phone?: string;
}

class Shop extends FrameworkModel {
  static override configure(schema: mongoose.Schema): void {
    schema.add({ _id: String } as never);
  }
  @prop({ select: false })
  notes?: string;
}

class Scene extends FrameworkModel {
  @prop({ ref: Agent })
  agent?: Ref<Agent>;
}

const AGENTS = [{ path: "agents", select: "+notes", options: { lean: true } }];

function asStored(populate?: unknown) {
  return ({ framework }: FrameworkRequest): boolean => {
    Object.assign(framework.options, { lean: true, ...populate !== undefined && { populate } });
    return true;
  };
}

function asPopulated({ framework }: FrameworkRequest): boolean {
  framework.options.populate = AGENTS as never;
  return true;
}

@rest({ route: "/plain", methods: [all(), one(), update()] })
@rest({ route: "/documents", methods: [all({ preFetch: asDocuments })] })
@rest({ route: "/hooked", methods: [all({ postFetch: pass }), update({ preSave: pass })] })
@rest({ route: "/lean", methods: [all({ preSend: pass, lean: true })] })
@rest({ route: "/stored", methods: [all({ preFetch: asStored(), postFetch: pass })] })
@rest({ route: "/populated", methods: [all({ preFetch: asPopulated })] })
@rest({
  route: "/populated-lean",
  methods: [all({ preFetch: asPopulated, postFetch: pass, lean: true })],
})
@rest({ route: "/populated-raw", methods: [all({ preFetch: asStored(AGENTS), postFetch: pass })] })
class Case extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ ref: Agent })
  agent?: Ref<Agent>;
  @arrayProp({ items: Agent })
  agents?: Ref<Agent>[];
  @prop({ ref: Shop, type: String } as never)
  shop?: string;
  @arrayProp({ items: Scene, embedded: true })
  scenes?: Scene[];
  @prop({ type: Scene })
  scene?: Scene;
}

const _id = new mongoose.Types.ObjectId();
const own = { name: "Ann", notes: "SECRET", phone: "SECRET", other: "x" };

/** What another program has stored, and what is shown of it. */
const CASES: [stored: object, shown: object][] = [
  [{ agent: { ...own, _id } }, { agent: String(_id) }],
  [{ agent: own }, { agent: null }],
  [{ agent: { _id: { name: "Ann" } } }, { agent: null }],
  [{ agent: new mongoose.mongo.DBRef("agents", _id) }, { agent: String(_id) }],
  [{ agents: [{ ...own, _id }, own, _id] }, { agents: [String(_id), null, String(_id)] }],
  [{ agents: { ...own, _id } }, { agents: [String(_id)] }],
  [{ shop: { notes: "SECRET", _id: "x" } }, { shop: "x" }],
  [{ shop: [{ notes: "SECRET" }] }, { shop: null }],
  [{ scenes: [{ _id, agent: own }, { _id, agent: { ...own, _id } }] }, {
    scenes: [{ _id: String(_id), agent: null }, { _id: String(_id), agent: String(_id) }],
  }],
  [{ scene: { _id, agent: own } }, { scene: { _id: String(_id), agent: null } }],
];

async function putCases(): Promise<void> {
  await getModel(Case).collection.insertMany(CASES.map(([stored]) => ({ ...stored })));
}

test("an object in the place of a reference is shown as its identifier, or as null", async () => {
  await using app = await mount([Case]);
  await putCases();
  for (const path of ["/plain", "/documents", "/hooked"]) {
    const list = await app.read<EntityBody[]>(path);
    for (const [index, [stored, shown]] of CASES.entries()) {
      const names = Object.keys(stored);
      const entries = names.map((name) => [name, list[index]?.[name]]);
      assertEquals<unknown>(Object.fromEntries(entries), shown, path);
    }
  }
});

test("no way to read shows a secret of an object in the place of a reference", async () => {
  await using app = await mount([Case]);
  await putCases();
  const paths = ["/plain", "/documents", "/hooked", "/lean", "/stored"];
  for (const path of paths) {
    const { status, text } = await app.get(path);
    assertEquals(status, 200);
    assert(!text.includes("SECRET"), `${path}: ${text}`);
  }
});

test("what a hook populates is shown as it asks for it", async () => {
  await using app = await mount([Case]);
  const { insertedId } = await getModel(Agent).collection.insertOne({ name: "Ann", notes: "n" });
  await getModel(Case).collection.insertOne({ agents: [insertedId] });
  const [body] = await app.read<EntityBody[]>("/populated");
  assertEquals<unknown>(body?.agents, [{ _id: String(insertedId), name: "Ann", notes: "n" }]);
});

test("an object in a reference beside a populated one shows no secret", async () => {
  await using app = await mount([Case]);
  const { insertedId } = await getModel(Agent).collection.insertOne({ name: "Ann", notes: "n" });
  await getModel(Case).collection.insertOne({
    agent: { ...own, _id },
    agents: [insertedId],
    scene: { _id, agent: { ...own, _id } },
  });
  for (const route of ["/populated", "/populated-lean", "/populated-raw"]) {
    const { body, text } = await app.get<EntityBody[]>(route);
    assertEquals<unknown>(body[0]?.agents, [{ _id: String(insertedId), name: "Ann", notes: "n" }]);
    assert(!text.includes("SECRET"), `${route}: ${text}`);
  }
});

test("an update of another field keeps an object in the place of a reference", async () => {
  await using app = await mount([Case]);
  const stored = { agent: { ...own, _id }, agents: [{ ...own, _id }] };
  const { collection } = getModel(Case);
  for (const path of ["/plain", "/hooked"]) {
    const { insertedId } = await collection.insertOne({ ...stored, __v: 0 });
    const changed = await app.updated(`${path}/${insertedId}`, { name: "x" });
    assertEquals([changed.name, changed.agent], ["x", String(_id)]);
    const now = await collection.findOne({ _id: insertedId });
    assertEquals([now?.agent, now?.agents], [stored.agent, stored.agents]);
    const given = [String(_id), String(insertedId)];
    assertEquals((await app.updated(`${path}/${insertedId}`, { agents: given })).agents, given);
  }
});

test("a list in a populated list is left out", async () => {
  await using app = await mount([Case]);
  const { insertedId } = await getModel(Agent).collection.insertOne({ name: "Ann", notes: "n" });
  await getModel(Case).collection.insertOne({ agents: [[{ ...own, _id }], insertedId] });
  const [body] = await app.read<EntityBody[]>("/populated");
  const shown = { _id: String(insertedId), name: "Ann", notes: "n" };
  assertEquals<unknown>(body?.agents, [shown]);
});
