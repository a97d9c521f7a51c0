import { all, create, type DateOnly, FrameworkModel, one, prop } from "@mongrove/mongrove";
import { type ReadOnly, remove, rest, type Restricted, update } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { isAdministrator, isDoctor } from "./staff.ts";

/** A patient of a clinic. The whole staff keeps the address book, and doctors alone keep notes. */
@rest({
  route: "/patients",
  tenant: "clinic",
  history: true,
  trash: { keep: "365d", see: isAdministrator },
  methods: [
    all({
      page: { max: 100 },
      sort: ["name"],
      filter: ["name", "born", "insurance"],
      search: ["name", "phone"],
      count: true,
      formats: ["csv"],
    }),
    one(),
    create({ many: 200, atomic: false, formats: ["csv"] }),
    update(),
    remove({ preFetch: isAdministrator }),
  ],
})
export class Patient extends FrameworkModel {
  /** Each read is one of a clinic, so its field stands first. */
  static override configure(schema: Schema): void {
    schema.index({ clinic: 1, name: 1, _id: 1 });
  }

  @prop({ required: true, readonly: true })
  readonly clinic!: ReadOnly<string>;
  @prop({ required: true, maxLength: 200 })
  name!: string;
  @prop({ type: Date, dateOnly: true, required: true, min: new Date("1900-01-01") })
  born!: DateOnly;
  @prop({ enum: ["public", "private", "none"], default: "public" })
  insurance!: string;
  @prop({ maxLength: 40 })
  phone?: string;
  @prop({ hidden: (req) => !isDoctor(req) })
  notes?: Restricted<string>;
  @prop({ stamp: "createdBy" })
  readonly createdBy?: ReadOnly<string>;
}
