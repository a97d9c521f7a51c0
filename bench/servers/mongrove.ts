/** Mongrove, as its README shows it. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import mongoose from "mongoose";
import process from "node:process";
import { all, create, Framework, one, onlyIf, replace, update, updateAll } from "../../mod.ts";
import { type FrameworkRequest, type ModelClass, StoredFile } from "../../mod.ts";
import { apiKeyOf, keys } from "../../src/keys/mod.ts";
import * as data from "../data.ts";
import { guarded, itemsOf, TARGETS } from "../data.ts";
import { keepStarred, LARGEST_BODY, listen, type Starred, URI } from "./common.ts";
import { ITEM, type Methods, on } from "./models.ts";

const Writer = on(data.WRITERS, [one()], {
  fields: { name: { required: true }, about: {}, joined: { type: Date } },
});
const ranked = {
  collection: data.RANKED,
  fields: { ...ITEM, rank: { type: Number }, writer: { ref: Writer } },
};

const look = (_req: FrameworkRequest, item: Starred) => keepStarred(item);
const hook = { postFetch: look };
const lean = { lean: true, postFetch: look } as const;
const named = {
  postFetch: onlyIf(["stars"], (_req: FrameworkRequest, item: Starred) => item.stars >= 0),
};
const paging = { page: { size: 20, max: 100 }, sort: ["rank"] };

/** The operations of routes with hooks, and those of their pages. */
const HOOKED: Readonly<Record<data.HookKind, readonly [Methods, Methods]>> = {
  documents: [
    [all(hook), one(hook), create({ preSave: look }), update(hook)],
    [all({ ...paging, ...hook })],
  ],
  lean: [[all(lean), one(lean)], [all({ ...paging, ...lean })]],
  named: [[all(named), one(named)], [all({ ...paging, ...named })]],
};
const hookedModels = Object.entries(HOOKED).flatMap(([kind, [methods, pages]]) => [
  ...data.GUARDED.map((collection) => on(guarded(kind, collection), methods, { collection })),
  on(guarded(kind, data.PAGED), pages, ranked),
]);

const by = ["stars", { created: "month" }] as const;
const groups = { by: [...by], count: true, sum: ["price"] } as const;
const groupedModels = data.GROUPED_SIZES.map(itemsOf).map((collection) =>
  on(data.grouped(collection), [all({ groups })], { collection })
);

/** Returns the models of the collections, or this number of models, the measured one last. */
function collectionModels(count: number): ModelClass[] {
  const others = Array.from({ length: count - 1 }, (_, index) => `others${index}`);
  const names = count === 0 ? [...data.COLLECTIONS.keys()] : [...others, itemsOf(TARGETS)];
  return names.map((name) => on(name, [all(), one(), create(), update()]));
}

/** Returns the models of writes of many entities. They need transactions. */
function writtenModels(): ModelClass[] {
  const { CREATED, CHANGED, MANY, written } = data;
  const changes = [updateAll({ fields: ["price"], max: MANY }), replace()];
  return [
    on(written(CREATED), [create({ many: MANY })], { collection: CREATED }),
    on(written(CHANGED), changes, { collection: CHANGED }),
  ];
}

/** Returns the models of classes with an option. They need transactions. */
function ownedModels(): ModelClass[] {
  const methods = [all({ page: { size: 20, max: 20 } }), one(), create(), update()];
  const readonly = { readonly: true };
  const fields = { ...ITEM, shop: readonly, createdBy: readonly, updatedBy: readonly };
  const stamps = { createdBy: { stamp: "createdBy" }, updatedBy: { stamp: "updatedBy" } };
  const options: Readonly<Record<data.ClassOption, object>> = {
    none: {},
    stamps: { fields: { ...fields, ...stamps } },
    history: { history: true },
    trash: { trash: true },
    tenant: { tenant: "shop" },
  };
  return data.CLASS_OPTIONS.map((option) =>
    on(data.owned(option), methods, { fields, tenant: false, ...options[option] })
  );
}

const isReplicaSet = /[?&]replicaSet=/.test(URI);
const models = [
  ...collectionModels(Number(process.env.BENCH_MODELS ?? 0)),
  ...hookedModels,
  on(data.PAGED, [all({ ...paging, count: {} })], ranked),
  on(data.POPULATED, [all({ ...paging, populate: { writer: true } })], ranked),
  Writer,
  on(data.SCANS, [one()], {
    fields: { file: { type: StoredFile, maxBytes: 1e9, rest: { methods: [one(), replace()] } } },
  }),
  on(data.DEEP, [all({ ...paging, sort: [data.DEEP_SORT] })]),
  ...data.FIELD_COUNTS.map((count) => {
    const fields = data.wideFields(count).map(([name, type]) => [name, { type }]);
    return on(data.wideOf(count), [all()], { fields: Object.fromEntries(fields) });
  }),
  ...groupedModels,
  ...isReplicaSet ? writtenModels() : [],
];
await mongoose.connect(URI);
const app = express();
app.use(express.json({ limit: LARGEST_BODY }));
app.use(Framework.initialize({ models }));
if (isReplicaSet) {
  const { shop, user } = data.SENDER;
  app.use(Framework.initialize({ models: ownedModels(), tenant: () => shop, actor: () => user }));
}
const keyedName = itemsOf(TARGETS);
app.use(Framework.initialize({
  models: [on(data.keyed(keyedName), [one()], { collection: keyedName })],
  actor: (req) => apiKeyOf(req)?.owner,
  guard: (req) => apiKeyOf(req) !== undefined,
  plugins: [keys({ owner: (id) => ({ id }) })],
}));
listen(app);
