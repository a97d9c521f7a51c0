import { all, create, type DateOnly, FrameworkModel, one, prop } from "@mongrove/mongrove";
import { type ReadOnly, type Ref, replace, rest, StoredFile } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { Patient } from "./patient.ts";
import { isDoctor } from "./staff.ts";

/** A prescription with its signed PDF. It is for doctors, and never changes. */
@rest({
  route: "/prescriptions",
  tenant: "clinic",
  methods: [
    all({ preFetch: isDoctor, page: { max: 100 }, sort: ["given"], filter: ["patient", "given"] }),
    one({ preFetch: isDoctor }),
    create({ preFetch: isDoctor }),
  ],
})
export class Prescription extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.index({ clinic: 1, given: 1, _id: 1 });
  }

  @prop({ required: true, readonly: true })
  readonly clinic!: ReadOnly<string>;
  @prop({ ref: () => Patient, required: true, exists: true, onDelete: "restrict", unguarded: true })
  patient!: Ref<Patient>;
  @prop({ required: true, maxLength: 2000 })
  medicine!: string;
  @prop({ type: Date, dateOnly: true, default: Date.now, readonly: true })
  given!: ReadOnly<DateOnly>;
  @prop({ stamp: "createdBy" })
  readonly doctor?: ReadOnly<string>;
  @rest({ methods: [one({ preFetch: isDoctor }), replace({ preFetch: isDoctor })] })
  @prop({ type: StoredFile, maxBytes: 5_000_000, accept: ["application/pdf"] })
  signed?: StoredFile;
}
