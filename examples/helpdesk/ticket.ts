import { all, arrayProp, create, type Entity, FrameworkModel, one } from "@mongrove/mongrove";
import { type FrameworkRequest, prop, type ReadOnly, rest } from "@mongrove/mongrove";
import { type Restricted, update } from "@mongrove/mongrove";
import { assign, close, report } from "./actions.ts";
import { Comment, sign } from "./comment.ts";
import { isAgent, isCustomer, userOf } from "./users.ts";

/** A ticket belongs to the organisation of the customer who opens it. */
function setOrganisation(req: FrameworkRequest, ticket: Entity<Ticket>): Entity<Ticket> {
  ticket.organisation = userOf(req).organisation ?? "help desk";
  return ticket;
}

/** A ticket: agents see all of them, customers those of their organisation. */
@rest({
  route: "/tickets",
  scope: (req) => isAgent(req) ? {} : { organisation: userOf(req).organisation },
  methods: [
    all({
      page: { max: 50 },
      sort: ["title", "state"],
      filter: ["state", "title", "agent"],
      search: ["title", "note"],
      count: true,
    }),
    one(),
    create({ preSave: setOrganisation }),
    update(),
    close,
    assign,
    report,
  ],
})
export class Ticket extends FrameworkModel {
  @prop({ required: true, maxLength: 200, index: true })
  title!: string;

  @prop({ readonly: true })
  organisation?: ReadOnly<string>;

  @prop({ enum: ["open", "closed"], default: "open", readonly: true, index: true })
  state!: ReadOnly<string>;

  /** Why it was closed. */
  @prop({ readonly: true })
  reason?: ReadOnly<string>;

  /** The agent who works on it. */
  @prop({ readonly: true })
  agent?: ReadOnly<string>;

  /** What agents tell each other. */
  @prop({ hidden: isCustomer })
  note?: Restricted<string>;

  @rest({
    methods: [all(), one(), create({ preSave: sign })],
    scope: (req) => isAgent(req) ? {} : { internal: false },
  })
  @arrayProp({ items: Comment, embedded: true, apart: true })
  comments?: Comment[];
}
