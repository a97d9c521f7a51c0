import type { Buffer } from "node:buffer";
import express, { type Express } from "express";
import mongoose from "mongoose";
import { admin } from "@mongrove/mongrove/admin";
import {
  action,
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
} from "@mongrove/mongrove";
import {
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  StoredFile,
  update,
  updateAll,
} from "@mongrove/mongrove";
import { onlyStrict } from "../../support/only_strict.ts";

const { Types, Schema } = mongoose;

@rest({ route: "/friends", methods: [all({ page: { max: 20 } }), one(), create(), update()] })
export class Friend extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

export class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;

  @prop()
  city?: string;
}

export class Attachment extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1_000_000 })
  file?: StoredFile;
}

class CountBody extends FrameworkModel {
  @prop({ type: Number, required: true, min: 1, description: "How many" })
  times!: number;
}

class Touched extends FrameworkModel {
  @prop({ type: Number, required: true })
  touched!: number;
}

const touch = action("touch", {
  on: "all",
  body: CountBody,
  answer: Touched,
  run: (_req, _query, { times }) => ({ touched: times }),
});

/** An entity that clients replace as a whole, by a key of their own. */
@rest({ route: "/prices", methods: [all(), one(), replace({ by: "sku" })] })
export class Price extends FrameworkModel {
  @prop({ required: true, unique: true })
  sku!: string;

  @prop({ type: Number, required: true })
  amount!: number;

  @prop()
  note?: string;
}

/** A model with a field of every type, and every option that the page shows. */
@rest({
  route: "/samples",
  history: true,
  trash: { see: () => true },
  methods: [
    all({
      page: { max: 50 },
      sort: ["name", "size"],
      search: ["name"],
      count: true,
      live: true,
      formats: ["csv"],
    }),
    one(),
    create(),
    update(),
    remove(),
    updateAll({ fields: ["size", "color"], max: 100 }),
    removeAll({ max: 100, q: "required" }),
    touch,
  ],
})
export class Sample extends FrameworkModel {
  @prop({ required: true, minLength: 2, description: "Readers find it by this name" })
  name!: string;

  @prop()
  description?: string;

  @prop({ enum: ["red", "green", "blue"], default: "red" })
  color!: string;

  @prop({ type: Number, min: 1, max: 10 })
  size?: number;

  @prop({ type: Boolean, default: false })
  isOpen!: boolean;

  @prop({ type: Boolean })
  isKnown?: boolean;

  @prop({ type: Date })
  day?: Date;

  @prop({ type: Schema.Types.BigInt })
  big?: bigint;

  @prop({ type: Schema.Types.Decimal128 })
  price?: mongoose.Types.Decimal128;

  @prop({ type: Schema.Types.UUID })
  token?: mongoose.Types.UUID;

  @prop({ type: Schema.Types.Buffer })
  bytes?: Buffer;

  @prop({ type: Types.ObjectId })
  plain?: mongoose.Types.ObjectId;

  @prop({ type: Object })
  free?: Record<string, unknown>;

  @prop({ type: Map, of: Number })
  scores?: Map<string, number>;

  @prop({ ref: () => Friend })
  friend?: Ref<Friend>;

  @arrayProp({ items: () => Friend })
  friends?: Ref<Friend>[];

  @arrayProp({ items: String })
  tags?: string[];

  @arrayProp({ items: Number })
  marks?: number[];

  @prop({ type: Address })
  home?: Address;

  @arrayProp({ items: Address, embedded: true })
  addresses?: Address[];

  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 100_000, accept: ["image/png", "text/plain"], inline: true })
  picture?: StoredFile;

  @rest({ methods: [all(), one(), create(), remove()] })
  @arrayProp({ items: Attachment, embedded: true })
  attachments?: Attachment[];
}

/** Stores friends and samples. */
export async function seed(): Promise<void> {
  const friends = await getModel(Friend).create(["Ann", "Bob", "Cid"].map((name) => ({ name })));
  const [ann, bob] = friends;
  await getModel(Sample).insertMany(Array.from({ length: 12 }, (_, index) => ({
    name: `Sample ${String(index + 1).padStart(2, "0")}`,
    size: index % 10 + 1,
    tags: ["new", "blue", "a tag with many words"],
    friend: ann?._id,
    friends: [ann?._id, bob?._id].filter((id) => id !== undefined),
    home: { street: "High Street", city: "Ghent" },
    addresses: [{ street: "Low Street" }],
    scores: { a: 1 },
    free: { any: ["thing"] },
  })));
}

/** Serves the page of the model at `/office/admin`, below an API at `/office`. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({
    models: [Sample, Friend, Price],
    strict: onlyStrict("bodies"),
  });
  app.use("/office", api);
  app.use("/office/admin", admin(api, { title: "Samples" }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
