import { workerData } from "node:worker_threads";
import mongoose from "mongoose";
import { adopt } from "../../../src/adopt/mod.ts";
import { describeModel } from "../../../src/declare/model/describe_model.ts";
import type { TwinData } from "./twins.ts";
import { Holder as DeclaredHolder, Item as DeclaredItem, mounted } from "./twin_models.ts";

const { hiding } = workerData as TwinData;

const { Schema } = mongoose;

const reference = (ref: string) => ({ type: Schema.Types.ObjectId, ref });

/** The paths of the class options, which the schema of an adopted model must have. */
const hidden = {
  ...hiding !== "trash" && { owner: String },
  ...hiding !== "tenants" && {
    deletedAt: Date,
    deletedBy: Schema.Types.Mixed,
    deletedWith: Schema.Types.ObjectId,
  },
};

/** Unique values of other tenants and of the trash must not collide, which the application cares for. */
const living = hiding === "tenants" ? {} : { deletedAt: null };
const within = hiding === "trash" ? {} : { owner: 1 } as const;

const note = new Schema({ text: { type: String, required: true }, about: reference("Item") });

const item = new Schema({
  name: { type: String, required: true },
  code: { type: String, required: true },
  isbn: String,
  genre: String,
  pages: Number,
  sequel: reference("Item"),
  related: [reference("Item")],
  notes: [note],
  cover: note,
  ...hidden,
}, { minimize: false });
for (const name of ["code", "isbn"]) {
  const exists = name === "isbn" ? { isbn: { $exists: true } } : {};
  item.index({ ...within, [name]: 1 }, {
    unique: true,
    partialFilterExpression: { ...living, ...exists },
  });
}

const holder = new Schema({
  name: { type: String, required: true },
  items: [reference("Item")],
  best: reference("Item"),
  slots: [note],
  ...hidden,
}, { minimize: false });

const [ofNotes] = describeModel(DeclaredItem).parts.get("notes") ?? [];
const [ofCover] = describeModel(DeclaredItem).parts.get("cover") ?? [];

/** `replace({ by })` needs a unique index of the field alone, which class options cannot narrow here. */
const rests = describeModel(DeclaredItem).rests.map((rest) => ({
  ...rest,
  methods: rest.methods.filter(({ hooks }) => !("by" in hooks)),
}));

const PATHS = ["name", "code", "isbn", "genre", "pages", "sequel", "related", "notes", "cover"];

export const Item = adopt(mongoose.model("Item", item), {
  shown: ["owner", "deletedAt", "deletedBy", ...PATHS].filter((name) => item.path(name)) as never,
  writable: PATHS as never,
  rest: rests as never,
  parts: { notes: ofNotes, cover: ofCover } as never,
});

export const Holder = adopt(mongoose.model("Holder", holder), {
  shown: ["owner", "name", "items", "best", "slots"].filter((name) => holder.path(name)) as never,
  writable: ["name", "items", "best", "slots"],
  rest: describeModel(DeclaredHolder).rests as never,
  parts: { slots: ofNotes } as never,
});

mounted.holder = Holder;
