import { type Entity, FrameworkModel, type FrameworkRequest, prop } from "@mongrove/mongrove";
import type { ReadOnly, Restricted } from "@mongrove/mongrove";
import { isCustomer, userOf } from "./users.ts";

/** A comment on a ticket. Customers neither see nor write internal ones. */
export class Comment extends FrameworkModel {
  @prop({ required: true })
  text!: string;

  @prop({ readonly: true })
  author?: ReadOnly<string>;

  @prop({ default: false, hidden: isCustomer })
  internal!: Restricted<boolean>;
}

export function sign(req: FrameworkRequest, comment: Entity<Comment>): Entity<Comment> {
  comment.author = userOf(req).name;
  return comment;
}
