import { action, all, arrayProp, create, type DateOnly, type Entity } from "@mongrove/mongrove";
import { FrameworkModel, type FrameworkRequest, one, onlyIf, prop } from "@mongrove/mongrove";
import { type ReadOnly, type Ref, rest, RestError, update } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { Patient } from "./patient.ts";
import { isAtDesk } from "./staff.ts";

/** Amounts are in euros, and whole numbers of cents. */
const isAmount = (value: number) => Math.round(value * 100) / 100 === value;

/** A line of an invoice. */
export class InvoiceLine extends FrameworkModel {
  @prop({ required: true, maxLength: 200 })
  text!: string;
  @prop({ type: Number, default: 1, min: 1, max: 1000, validate: Number.isInteger })
  count!: number;
  @prop({ type: Number, required: true, min: 0, validate: isAmount })
  price!: number;
}

function addUp(_req: FrameworkRequest, invoice: Entity<Invoice>): Entity<Invoice> {
  const total = invoice.lines.reduce((sum, { count, price }) => sum + count * price, 0);
  invoice.total = Math.round(total * 100) / 100;
  return invoice;
}

/** `paid` becomes a condition of the write, so no change meets a payment. */
const unpaid = onlyIf(["paid"], (_req: FrameworkRequest, { paid }: Pick<Invoice, "paid">) => {
  if (!paid) return true;
  throw new RestError(409, "The invoice is paid");
});

/** Books the payment. A paid invoice does not change any more. */
export const pay = action("pay", {
  on: "one",
  preFetch: isAtDesk,
  available: (_req: FrameworkRequest, { paid }: Entity<Invoice>) => !paid,
  run: async (_req: FrameworkRequest, invoice: Entity<Invoice>) => {
    invoice.paid = new Date();
    return await invoice.save();
  },
});

@rest({
  route: "/invoices",
  tenant: "clinic",
  history: true,
  methods: [
    all({
      page: { max: 100 },
      sort: ["number"],
      filter: ["number", "patient", "paid"],
      populate: { patient: { select: ["name"] } },
      groups: { by: [{ paid: "month" }], sum: ["total"], count: true },
    }),
    one(),
    create({ preFetch: isAtDesk, preSave: addUp }),
    update({ preFetch: isAtDesk, postFetch: unpaid, preSave: addUp }),
    pay,
  ],
})
export class Invoice extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.index({ clinic: 1, number: 1, _id: 1 });
  }

  @prop({ required: true, readonly: true })
  readonly clinic!: ReadOnly<string>;
  @prop({ required: true, unique: true, match: /^[A-Z]?\d{1,9}$/ })
  number!: string;
  @prop({ ref: () => Patient, required: true, exists: true, onDelete: "restrict" })
  patient!: Ref<Patient>;
  @arrayProp({ items: InvoiceLine, embedded: true, validate: (of: unknown[]) => of.length > 0 })
  lines!: InvoiceLine[];
  @prop({ type: Number, readonly: true })
  total!: ReadOnly<number>;
  @prop({ type: Date, dateOnly: true, readonly: true })
  paid?: ReadOnly<DateOnly>;
}
