import { all, create, FrameworkModel, one, prop, rest, type Restricted } from "@mongrove/mongrove";
import { agentsOnly, isAgent, isCustomer, userOf } from "./users.ts";

/** An organisation, of which customers see their own. */
@rest({
  route: "/organisations",
  methods: [all({ sort: ["name"] }), one(), create({ preFetch: agentsOnly })],
  scope: (req) => isAgent(req) ? {} : { key: userOf(req).organisation },
})
export class Organisation extends FrameworkModel {
  @prop({ required: true, unique: true })
  key!: string;

  @prop({ required: true, index: true })
  name!: string;

  /** What it pays for. */
  @prop({ enum: ["basic", "gold"], default: "basic", hidden: isCustomer })
  plan!: Restricted<string>;
}
