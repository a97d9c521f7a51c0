/**
 * At most three lists for each owner: a unique index gives each of three places once.
 *
 * @module
 */
import express from "express";
import { all, create, type Entity, Framework, FrameworkModel, prop } from "@mongrove/mongrove";
import { type FrameworkRequest, type ReadOnly, remove, rest, RestError } from "@mongrove/mongrove";
import type { Schema } from "mongoose";

const PLACES = [1, 2, 3];

function userOf(req: FrameworkRequest): string {
  const user = req.header("x-user"); // put your own check in its place
  if (user === undefined) throw new RestError(401, { code: "UNAUTHENTICATED" });
  return user;
}

async function takePlace(req: FrameworkRequest, list: Entity<List>) {
  const model = await req.framework.model<List>();
  const taken = await model.distinct("place", { owner: userOf(req) });
  const place = PLACES.find((each) => !taken.includes(each));
  if (place === undefined) throw new RestError(409, { code: "LIMIT_REACHED" });
  return Object.assign(list, { place });
}

@rest({
  route: "/lists",
  scope: (req) => ({ owner: userOf(req) }),
  methods: [all({ page: { max: 100 } }), create({ preSave: takePlace }), remove()],
})
class List extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.index({ owner: 1, place: 1 }, { unique: true });
  }

  @prop({ required: true })
  name!: string;

  @prop({ stamp: "createdBy" })
  owner?: ReadOnly<string>;

  @prop({ type: Number, required: true, readonly: true })
  place!: number;
}

export const app = express();
app.use(express.json());
app.use(Framework.initialize({
  models: [List],
  strict: true,
  guard: (req) => userOf(req) !== "",
  actor: userOf,
}));
app.use(Framework.errors());
