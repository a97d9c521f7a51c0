/**
 * Appointments of which no two overlap: a unique index refuses a quarter of an hour that is taken.
 *
 * @module
 */
import express from "express";
import { all, arrayProp, create, type Entity, Framework } from "@mongrove/mongrove";
import { FrameworkModel, type FrameworkRequest, onlyIf, prop } from "@mongrove/mongrove";
import { remove, rest, update } from "@mongrove/mongrove";
import type { Schema } from "mongoose";

const QUARTER = 15 * 60_000;
const isQuarter = (start: Date) => start.getTime() % QUARTER === 0;

function takeSlots(_req: FrameworkRequest, appointment: Entity<Appointment>) {
  const { doctor, start, minutes } = appointment;
  const count = Math.min(minutes, 60) / 15; // bodies are validated after `preSave`
  const slots = Array.from({ length: count }, (_, at) => Number(start) / QUARTER + at);
  appointment.slots = slots.map((slot) => `${doctor} ${slot}`);
  return appointment;
}

// binds a change to what `slots` are made of
const asRead = onlyIf(["doctor", "start", "minutes"], (_req: unknown, _time: Time) => true);
type Time = Pick<Appointment, "doctor" | "start" | "minutes">;

@rest({
  route: "/appointments",
  methods: [
    all({ page: { max: 100 } }),
    create({ preSave: takeSlots }),
    update({ postFetch: asRead, preSave: takeSlots }),
    remove(),
  ],
})
class Appointment extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.index({ slots: 1 }, { unique: true });
  }

  @prop({ required: true })
  doctor!: string;

  @prop({ type: Date, required: true, validate: isQuarter })
  start!: Date;

  @prop({ type: Number, required: true, enum: [15, 30, 45, 60] })
  minutes!: number;

  @arrayProp({ items: String, readonly: true })
  slots!: string[];
}

export const app = express();
app.use(express.json());
app.use(Framework.initialize({
  models: [Appointment],
  strict: true,
  guard: (req) => req.headers["x-user"] !== undefined, // put your own check in its place
}));
app.use(Framework.errors());
