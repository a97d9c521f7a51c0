import { FrameworkModel, prop, type ReadOnly, type Restricted } from "@mongrove/mongrove";
import { isCustomer } from "./users.ts";

/** A comment on a ticket. Customers neither see nor write internal ones. */
export class Comment extends FrameworkModel {
  @prop({ required: true })
  text!: string;

  @prop({ stamp: "createdBy" })
  readonly author?: ReadOnly<string>;

  @prop({ default: false, hidden: isCustomer })
  internal!: Restricted<boolean>;
}
