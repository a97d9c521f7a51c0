import { FrameworkModel, prop } from "../../../mod.ts";

/** An entity that a migration counts once. */
export class Box extends FrameworkModel {
  static override schemaOptions = { collection: "boxes" };
  @prop({ type: Number, required: true })
  n!: number;
  @prop({ type: Boolean })
  isCounted?: boolean;
}
