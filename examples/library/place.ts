import { FrameworkModel, prop } from "@mongrove/mongrove";

/** Where a shelf stands: a shelf has one place, or none. */
export class Place extends FrameworkModel {
  @prop({ required: true })
  room!: string;

  @prop({ type: Number, min: 0 })
  floor?: number;
}
