import { action, all, arrayProp, create, type Entity, FrameworkModel } from "@mongrove/mongrove";
import { type FrameworkRequest, type Hidden, one, onlyIf, prop } from "@mongrove/mongrove";
import { type ReadOnly, type Ref, rest, RestError, update } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { Patient } from "./patient.ts";
import { isAtDesk, memberOf, STAFF } from "./staff.ts";

const SLOT_MS = 15 * 60_000;

/** Names the quarters of an hour that an appointment takes of its doctor. */
export function slotsOf({ doctor, start, minutes }: Time): string[] {
  return Array.from({ length: minutes / 15 }, (_, index) => {
    return `${doctor} ${new Date(start.getTime() + index * SLOT_MS).toISOString()}`;
  });
}

type Time = Pick<Appointment, "doctor" | "start" | "minutes">;

/** A check before the write would bind nothing: the unique index on `slots` refuses the second of two at once. */
function takeSlots(req: FrameworkRequest, appointment: Entity<Appointment>) {
  const { role, clinic } = STAFF.get(appointment.doctor) ?? {};
  if (role !== "doctor" || clinic !== memberOf(req).clinic) throw new RestError(400, "No doctor");
  appointment.slots = slotsOf(appointment);
  return appointment;
}

type State = Pick<Appointment, "state">;

const isBooked = (_req: unknown, { state }: State) => state === "booked";
/** Binds a change to the time that `slots` are made of, too. */
const read = ["state", "doctor", "start", "minutes"] as const;
const onlyBooked = onlyIf(read, (req: FrameworkRequest, appointment: State & Time) => {
  if (isBooked(req, appointment)) return true;
  throw new RestError(409, `It is ${appointment.state}`);
});

/** The actions of the desk, which the admin page offers for booked appointments. */
const ofDesk = { on: "one", preFetch: isAtDesk, available: isBooked } as const;

export const arrive = action("arrive", {
  ...ofDesk,
  run: async (_req: FrameworkRequest, appointment: Entity<Appointment>) => {
    appointment.state = "arrived";
    return await appointment.save();
  },
});

/** Frees the time of the doctor. What is cancelled holds a slot that no other appointment names. */
export const cancel = action("cancel", {
  ...ofDesk,
  run: async (_req: FrameworkRequest, appointment: Entity<Appointment>) => {
    appointment.state = "cancelled";
    appointment.slots = [String(appointment._id)];
    return await appointment.save();
  },
});

/** An appointment. Those of one doctor never overlap, and screens follow the list live. */
@rest({
  route: "/appointments",
  tenant: "clinic",
  history: true,
  methods: [
    all({
      page: { max: 200 },
      sort: ["start"],
      filter: ["start", "doctor", "state", "patient"],
      populate: { patient: { select: ["name"] } },
      live: true,
    }),
    one(),
    create({ preFetch: isAtDesk, preSave: takeSlots }),
    update({ preFetch: isAtDesk, postFetch: onlyBooked, preSave: takeSlots }),
    arrive,
    cancel,
  ],
})
export class Appointment extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.index({ clinic: 1, start: 1, _id: 1 });
  }

  @prop({ required: true, readonly: true })
  readonly clinic!: ReadOnly<string>;
  @prop({ ref: () => Patient, required: true, exists: true, onDelete: "restrict" })
  patient!: Ref<Patient>;
  @prop({ required: true })
  doctor!: string;
  @prop({ type: Date, required: true, validate: (at: Date) => at.getTime() % SLOT_MS === 0 })
  start!: Date;
  @prop({ type: Number, enum: [15, 30, 45, 60], default: 15 })
  minutes!: number;
  @prop({ enum: ["booked", "arrived", "cancelled"], default: "booked", readonly: true })
  state!: ReadOnly<string>;
  @arrayProp({ items: String, required: true, unique: true, hidden: true, readonly: true })
  slots!: Hidden<string[]>;
}
