/**
 * Bookings of any length, of which no two overlap: requests that could break the rule together write one room first.
 *
 * @module
 */
import express from "express";
import { all, create, type Entity, Framework, FrameworkModel } from "@mongrove/mongrove";
import { type FrameworkRequest, getModel, prop, type Ref, remove } from "@mongrove/mongrove";
import { rest, RestError } from "@mongrove/mongrove";

/** The requests of a batch have no weight. */
function inBatch(req: FrameworkRequest) {
  if (req.framework.weight !== 0) throw new RestError(400, { code: "ONLY_IN_A_BATCH" });
  return true;
}

async function isFree(_req: FrameworkRequest, booking: Entity<Booking>) {
  const { room, start, end } = booking;
  if (!room || !start || !end) return booking; // which `required` refuses
  await getModel(Room).updateOne({ _id: room }, { $inc: { touched: 1 } });
  const overlaps = { room, start: { $lt: end }, end: { $gt: start } };
  if (await getModel(Booking).exists(overlaps)) throw new RestError(409, { code: "TAKEN" });
  return booking;
}

@rest({ route: "/rooms", methods: [all({ page: { max: 100 } }), create()] })
class Room extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ type: Number, default: 0, hidden: true, readonly: true })
  touched!: number;
}

@rest({
  route: "/bookings",
  methods: [all({ page: { max: 100 } }), create({ preFetch: inBatch, preSave: isFree }), remove()],
})
class Booking extends FrameworkModel {
  @prop({ ref: Room, required: true, exists: true, index: true })
  room!: Ref<Room>;

  @prop({ type: Date, required: true })
  start!: Date;

  @prop({ type: Date, required: true })
  end!: Date;
}

export const app = express();
app.use(express.json());
app.use(Framework.initialize({
  models: [Room, Booking],
  strict: true,
  guard: (req) => req.headers["x-user"] !== undefined,
  batch: { path: "/batch" },
}));
app.use(Framework.errors());
