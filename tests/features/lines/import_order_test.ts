import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { pass, watchCommands } from "../../support/both_paths.ts";
import { mount } from "../../support/support.ts";
import { namesOf } from "../many/many.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

const options = { many: 100, atomic: false, formats: ["ndjson"] } as const;
const hooks = { preSave: pass as never, preSend: pass as never };

class Row extends FrameworkModel {
  @prop({ required: true, unique: true })
  name!: string;
  @prop({ type: Number })
  rank?: number;
}

@rest({ route: "/plain", methods: [one(), create(options)] })
class Plain extends Row {}

@rest({ route: "/kept", methods: [one(), create(options)], history: { keep: "1d" } })
class Kept extends Row {}

@rest({
  route: "/hooked",
  methods: [one(), create({ ...options, ...hooks })],
  history: { keep: "1d" },
})
class Hooked extends Row {}

@rest({ route: "/referred", methods: [all()] })
class Referred extends Row {}

@rest({ route: "/shelves", methods: [one(), create()] })
class Shelf extends FrameworkModel {
  @rest({ methods: [all(), create(options)] })
  @arrayProp({ items: () => Referred })
  rows?: Ref<Referred>[];
}

/** Each name comes three times, beside a line that is wrong. */
const LINES = Array.from({ length: 90 }, (_, rank) => ({
  name: `row ${Math.floor(rank / 3)}`,
  rank: rank % 30 === 16 ? "x" : rank,
}));
const FATES = LINES.map(({ rank }) => rank === "x" ? 400 : Number(rank) % 3 === 0 ? 201 : 409);
const headers = { "content-type": "application/x-ndjson" };

test("the first line with a unique value is stored, with history and below a parent too", async () => {
  await using mongo = await openReplicaSet();
  await using app = await mount([Plain, Kept, Hooked, Referred, Shelf], { mongo: mongo.uri });
  const models = [Plain, Kept, Hooked, Referred];
  await Promise.all(models.map((model) => getModel(model).init()));
  const shelf = await app.created("/shelves", {});
  const send = async (path: string, lines: readonly object[]) => {
    const raw = lines.map((line) => JSON.stringify(line)).join("\n");
    const { text } = await app.send("POST", path, { raw, headers });
    return text.split("\n").slice(0, -1).map((line): { status: number; _id: string } =>
      JSON.parse(line)
    );
  };
  const paths = ["/plain", "/kept", "/hooked", `/shelves/${shelf._id}/rows`];
  for (const [index, path] of paths.entries()) {
    const told = await send(path, LINES);
    assertEquals([path, told.map(({ status }) => status)], [path, FATES]);
    const stored = await getModel(models[index] as typeof Plain).find().sort({ rank: 1 }).lean();
    const ids = told.flatMap(({ _id }) => _id ?? []);
    assertEquals(stored.map(({ _id }) => String(_id)), ids);
    assertEquals((await send(path, LINES)).filter(({ status }) => status === 201), []);
  }
  const { db } = getModel(Hooked);
  const records = await db.collection("hookeds_history")
    .countDocuments();
  assertEquals(records, 30);
});

test("an import with history is one transaction for each batch", async () => {
  await using mongo = await openReplicaSet();
  await using app = await mount([Hooked], { mongo: mongo.uri });
  await getModel(Hooked).init();
  const sent = await watchCommands(app.database.uri);
  const raw = Array.from({ length: 100 }, (_, rank) => JSON.stringify({ name: `${rank}` }));
  await app.send("POST", "/hooked", { raw: raw.join("\n"), headers });
  assertEquals(namesOf(sent).filter((name) => name === "commitTransaction").length, 1);
});
