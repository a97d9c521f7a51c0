import { all, create, FrameworkModel, one, prop, type ReadOnly, remove } from "@mongrove/mongrove";
import { rest, type Restricted } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { agentsOnly, isAgent, isCustomer, userOf } from "./users.ts";

/** An organisation, of which customers see their own. While tickets refer to it, its removal is a 409. */
@rest({
  route: "/organisations",
  tenant: "desk",
  scope: (req) => isAgent(req) ? {} : { _id: userOf(req).organisation },
  methods: [
    all({ sort: ["name"], page: false }),
    one(),
    create({ preFetch: agentsOnly }),
    remove({ preFetch: agentsOnly }),
  ],
})
export class Organisation extends FrameworkModel {
  /** Each read is one of a desk, so its field stands first. */
  static override configure(schema: Schema): void {
    schema.index({ desk: 1, name: 1, _id: 1 });
  }

  @prop({ required: true, readonly: true })
  readonly desk!: ReadOnly<string>;

  /** Two desks may use the same key. */
  @prop({ required: true, unique: true })
  key!: string;

  @prop({ required: true })
  name!: string;

  /** What it pays for. */
  @prop({ enum: ["basic", "gold"], default: "basic", hidden: isCustomer })
  plan!: Restricted<string>;
}
