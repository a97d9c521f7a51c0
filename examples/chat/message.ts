import { FrameworkModel, prop, type ReadOnly } from "@mongrove/mongrove";

/** A message. It is stored in a collection of its own, and lives in its room. */
export class Message extends FrameworkModel {
  /** In an application, the name of whoever has signed in. */
  @prop({ required: true, maxLength: 40 })
  author!: string;

  @prop({ required: true, maxLength: 1000 })
  text!: string;

  @prop({ type: Date, default: () => new Date(), readonly: true })
  sentAt!: ReadOnly<Date>;
}
