// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import {
  action,
  all,
  create,
  define,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  one,
  remove,
  removeAll,
  replace,
  StoredFile,
  update,
  updateAll,
} from "../../../mod.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import type { Mounted } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { pass } from "../../support/both_paths.ts";
import { gate } from "../../support/race.ts";

/** How the classes of a family name the field of the tenant: by `tenant`, by `scope`, or not at all. */
export type Tenancy = "tenant" | "scope" | "none";

/** The field of the tenant, and the value of all requests. */
export const COMPANY = "acme";

/** Some classes with every option that sends statements. */
export interface Family {
  readonly name: Tenancy;
  readonly models: readonly ModelClass[];
  /** The class whose entities are followed, and that a route of the application reads. */
  readonly paper: ModelClass;
}

const declare = define as (target: ModelClass, options: object) => void;

/** Returns a new class. Models are registered by the names of their classes. */
function classOf(name: string): ModelClass {
  return { [name]: class extends FrameworkModel {} }[name] as ModelClass;
}

const KEYS = { keep: "1h", caller: () => "ann" };

const METHODS = [
  all({
    page: { size: 20, max: 50 },
    sort: ["title"],
    search: ["title"],
    count: true,
    groups: { by: ["state"], sum: ["pages"] },
    distinct: ["state"],
    populate: { author: {}, notes: {} },
    live: true,
  } as never),
  one({ populate: { author: {} } } as never),
  create({ many: 10, formats: ["ndjson"], idempotency: KEYS } as never),
  update(),
  updateAll({ fields: ["state"] } as never),
  replace(),
  remove(),
  removeAll(),
  action("shout", {
    on: "one",
    run: async (_req: unknown, paper: { title: string; save(): Promise<unknown> }) => {
      paper.title = paper.title.toUpperCase();
      return await paper.save();
    },
  } as never),
];

const HOOKS = { preSave: pass } as never;

const HOOKED = [
  all({ postFetch: pass } as never),
  one({ postFetch: pass } as never),
  create({ many: 10, formats: ["ndjson"], idempotency: KEYS, preSave: pass } as never),
  update(HOOKS),
  updateAll({ fields: ["state"], preSave: pass } as never),
  replace(HOOKS),
  remove(HOOKS),
  removeAll(HOOKS),
];

const PART_METHODS = [all(), one(), create(), update(), remove()];

const ONCE = [all(), one(), create(), update(), remove(), removeAll()];

/** What the classes of a family have in common. */
class Bound {
  readonly name: Tenancy;
  /** The field of the tenant. */
  readonly own: object;

  constructor(name: Tenancy) {
    this.name = name;
    this.own = name === "none" ? {} : { company: { required: true, readonly: name === "tenant" } };
  }

  classOf(suffix: string): ModelClass {
    return classOf(`${this.name}${suffix}`);
  }

  /** Returns the options of `@rest` for a route. */
  at(path: string, methods: object[], options = {}): object {
    const tenant = this.name === "tenant" ? "company" : false;
    const scope = this.name === "scope" && { scope: () => ({ company: COMPANY }) };
    return { route: `/${this.name}/${path}`, methods, tenant, ...scope, ...options };
  }
}

/** Makes the classes of a family. */
export function makeFamily(name: Tenancy): Family {
  const bound = new Bound(name);
  const { own } = bound;
  const Author = bound.classOf("Author");
  declare(Author, {
    fields: { ...own, name: { required: true } },
    rest: bound.at("authors", ONCE),
  });
  const Line = bound.classOf("Line");
  declare(Line, { fields: { text: { required: true } } });
  const Note = bound.classOf("Note");
  declare(Note, { fields: { ...own, text: { required: true } }, rest: bound.at("notes", ONCE) });
  const Paper = makePaper(bound, { Author, Line, Note });
  const Kept = makeKept(bound, Line);
  const referring = [
    ["cascade", Author, {}],
    ["unset", Author, {}],
    ["restored", Kept, { trash: { see: () => true } }],
  ] as const;
  const others = referring.map(([path, owner, options]) => {
    const Referring = bound.classOf(path);
    const onDelete = path === "unset" ? "unset" : "cascade";
    declare(Referring, {
      fields: { ...own, owner: { ref: () => owner, onDelete } },
      rest: bound.at(path, ONCE, options),
    });
    return Referring;
  });
  return { name, models: [Author, Note, Paper, Kept, makeFiled(bound), ...others], paper: Paper };
}

/** Makes a class with most options of operations. */
function makePaper(
  bound: Bound,
  { Author, Line, Note }: Readonly<Record<"Author" | "Line" | "Note", ModelClass>>,
): ModelClass {
  const Paper = bound.classOf("Paper");
  // The requests after the first one of a turn of the event loop share a query.
  const meet = gate(3);
  declare(Paper, {
    fields: {
      ...bound.own,
      region: {},
      title: { required: true },
      code: { unique: true, sparse: true },
      ...bound.name === "tenant" && { domain: { unique: { global: true }, sparse: true } },
      state: { default: "open" },
      pages: { type: Number },
      author: { ref: () => Author, exists: true, rest: { methods: [one(), update()] } },
      lines: { items: Line, embedded: true, apart: false, rest: { methods: PART_METHODS } },
      notes: { items: () => Note, exists: true, rest: { methods: PART_METHODS } },
    },
    rest: [
      bound.at("papers", METHODS, { main: true }),
      bound.at("hooked", HOOKED),
      bound.at("keyed", [
        all({ filter: ["title", "author.name"] } as never),
        one({ preFetch: (req: FrameworkRequest) => meet(req, true) } as never),
        replace({ by: "code" } as never),
      ]),
    ],
  });
  return Paper;
}

/** Makes a class with a history and a trash. */
function makeKept(bound: Bound, Line: ModelClass): ModelClass {
  const Kept = bound.classOf("Kept");
  const kept = { history: { keep: "90d" }, trash: { keep: "30d", see: () => true } };
  declare(Kept, {
    fields: {
      ...bound.own,
      title: { required: true },
      lines: { items: Line, embedded: true, apart: false, rest: { methods: PART_METHODS } },
    },
    rest: [
      bound.at("kept", [...ONCE, updateAll({ fields: ["title"] } as never)], {
        ...kept,
        main: true,
      }),
      bound.at("kept-hooked", [one(), create(HOOKS), update(HOOKS), remove(HOOKS)], kept),
    ],
  });
  return Kept;
}

/** Makes a class whose entities have a file. */
function makeFiled(bound: Bound): ModelClass {
  const Filed = bound.classOf("Filed");
  const file = {
    type: StoredFile,
    maxBytes: 1_000_000,
    rest: { methods: [one(), replace(), remove()] },
  };
  declare(Filed, { fields: { ...bound.own, file }, rest: bound.at("filed", ONCE) });
  return Filed;
}

/** Serves families of classes, and has the driver tell of each command. */
export async function serveFamilies(families: readonly Family[]): Promise<Mounted> {
  const models = families.flatMap(({ models }) => models);
  const app = await mountOnReplicaSet(models, {
    tenant: () => COMPANY,
    actor: () => "ann",
    tidy: false,
    batch: { path: "/batch", max: 20 },
    prepare(app) {
      app.use(express.json());
      for (const { name, paper } of families) {
        app.get(`/${name}/own`, async (req, res) => {
          const { filter, model } = await Framework.queryFor(req, paper, {
            route: `/${name}/papers`,
          });
          res.json(await model.find(filter));
        });
      }
    },
  });
  await until(async () => {
    const found = await mongoose.connection.db?.listCollections({ name: /_history$/ }).toArray();
    return found?.length === families.length;
  });
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri, { monitorCommands: true });
  await Promise.all(models.map((model) => getModel(model).init()));
  return app;
}
