import { assert, assertEquals } from "@std/assert";
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
import { pass } from "../../support/both_paths.ts";
import { mount, type Mounted } from "../../support/support.ts";
import { failCommand } from "../many/many.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

const options = { many: 20, atomic: false, formats: ["ndjson", "csv"] } as const;
const passed = { ...options, preSave: pass as never };

class Row extends FrameworkModel {
  @prop({ required: true, unique: true })
  name!: string;
}

@rest({ route: "/plain", methods: [create(options)] })
class Plain extends Row {}

@rest({ route: "/hooked", methods: [create(passed)] })
class Hooked extends Row {}

@rest({ route: "/kept", methods: [one(), create(options)], history: { keep: "1d" } })
class Kept extends Row {}

@rest({ route: "/keptHooked", methods: [one(), create(passed)], history: { keep: "1d" } })
class KeptHooked extends Row {}

@rest({ route: "/referred", methods: [all()] })
class Referred extends Row {}

@rest({ route: "/shelves", methods: [one(), create()] })
class Shelf extends FrameworkModel {
  @rest({ methods: [all(), create(options)] })
  @arrayProp({ items: () => Referred })
  rows?: Ref<Referred>[];
}

const MODELS = [Plain, Hooked, Kept, KeptHooked] as const;
const NAMES = Array.from({ length: 60 }, (_, index) => `row ${index}`);

interface Told {
  readonly line: number;
  readonly status: number;
}

const TYPES = { ndjson: "application/x-ndjson", csv: "text/csv" } as const;

async function send(
  app: Mounted,
  path: string,
  { names, format, minimal }: {
    readonly names: readonly string[];
    readonly format: keyof typeof TYPES;
    readonly minimal: boolean;
  },
): Promise<Told[]> {
  const lines = names.map((name) => format === "csv" ? name : JSON.stringify({ name }));
  const { status, text } = await app.send("POST", path, {
    raw: [...format === "csv" ? ["name"] : [], ...lines].join("\n"),
    headers: { "content-type": TYPES[format], ...minimal && { prefer: "return=minimal" } },
  });
  assertEquals(status, 207, text);
  const told: Told[] = text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  return told.map((each) => format === "csv" ? { ...each, line: each.line - 1 } : each);
}

const WAYS = [{ format: "ndjson", minimal: false }, { format: "csv", minimal: true }] as const;

interface Cut {
  readonly model: typeof Plain;
  /** The number of statements before the outage. */
  readonly skip: number;
  readonly way: typeof WAYS[number];
}

/** Sends names, and gives those that are to be sent again: the line of a 503, and all after it. */
async function sendSome(
  app: Mounted,
  path: string,
  { names, way }: { readonly names: readonly string[]; readonly way: Cut["way"] },
): Promise<readonly string[]> {
  const told = await send(app, path, { names, ...way });
  const last = told.at(-1);
  const isCut = last?.status === 503;
  assert((isCut ? told.slice(0, -1) : told).every(({ status }) => status === 201));
  const known = new Set(
    told.flatMap(({ line, status }) => status === 201 ? [names[line - 1]] : []),
  );
  return names.slice(isCut ? last.line - 1 : names.length).filter((name) => !known.has(name));
}

/** Imports all names, with an outage, and goes on where it ended. */
async function importCut(app: Mounted, path: string, { model, skip, way }: Cut): Promise<void> {
  const { db } = getModel(model);
  await getModel(model).deleteMany({});
  await failCommand(db, ["insert"], { mode: { skip }, closeConnection: true });
  let names = await sendSome(app, path, { names: NAMES, way });
  await failCommand(db, ["insert"], { mode: "off" });
  assert(names.length > 0 || skip > 1);
  // On a busy machine, the time of a request ends before all are stored.
  for (let left = 50; names.length > 0 && left > 0; left--) {
    names = await sendSome(app, path, { names, way });
  }
  const stored = (await getModel(model).find().lean()).map(({ name }) => name);
  assertEquals([path, skip, stored.sort()], [path, skip, NAMES.toSorted()]);
}

for (const way of WAYS) {
  test(`a client goes on where an outage has ended its import: ${way.format}`, async () => {
    await using mongo = await openReplicaSet();
    const options = { mongo: mongo.uri, limits: { timeMS: 500 }, onError: () => {} };
    await using app = await mount([...MODELS, Referred, Shelf], options);
    await Promise.all([...MODELS, Referred].map((model) => getModel(model).init()));
    const shelf = await app.created("/shelves", {});
    const routes: Record<string, typeof Plain> = {
      ...{ "/plain": Plain, "/hooked": Hooked, "/kept": Kept, "/keptHooked": KeptHooked },
      [`/shelves/${shelf._id}/rows`]: Referred,
    };
    for (const [path, model] of Object.entries(routes)) {
      for (const skip of [1, 33]) await importCut(app, path, { model, skip, way });
    }
  });
}
