import { all, arrayProp, create, type Entity, FrameworkModel, one } from "@mongrove/mongrove";
import { type FrameworkRequest, prop, type ReadOnly, type Ref, remove } from "@mongrove/mongrove";
import { rest, type Restricted, update } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { assign, close, report } from "./actions.ts";
import { Attachment } from "./attachment.ts";
import { Comment } from "./comment.ts";
import { Organisation } from "./organisation.ts";
import { agentsOnly, isAgent, isCustomer, userOf } from "./users.ts";

/** A customer's ticket belongs to his organisation. Agents name the organisation. */
function setOrganisation(req: FrameworkRequest, ticket: Entity<Ticket>): Entity<Ticket> {
  const { organisation } = userOf(req);
  if (organisation !== undefined) ticket.organisation = organisation;
  return ticket;
}

/** A ticket: agents see all of their desk, customers those of their organisation. */
@rest({
  route: "/tickets",
  tenant: "desk",
  scope: (req) => isAgent(req) ? {} : { organisation: userOf(req).organisation },
  history: { keep: "90d" },
  trash: { keep: "30d", see: isAgent },
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
    remove(),
    close,
    assign,
    report,
  ],
})
export class Ticket extends FrameworkModel {
  /** Each read is one of a desk, so its field stands first. */
  static override configure(schema: Schema): void {
    schema.index({ desk: 1, title: 1, _id: 1 });
    schema.index({ desk: 1, state: 1, _id: 1 });
  }

  @prop({ required: true, readonly: true })
  readonly desk!: ReadOnly<string>;

  @prop({ required: true, maxLength: 200 })
  title!: string;

  @prop({ ref: () => Organisation, onDelete: "restrict", readonly: isCustomer })
  organisation?: Ref<Organisation>;

  @prop({ enum: ["open", "closed"], default: "open", readonly: true })
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

  @prop({ stamp: "createdBy" })
  readonly openedBy?: ReadOnly<string>;

  @prop({ stamp: "updatedBy" })
  readonly updatedBy?: ReadOnly<string>;

  @rest({
    methods: [all({ page: false }), one(), create()],
    scope: (req) => isAgent(req) ? {} : { internal: false },
  })
  @arrayProp({ items: Comment, embedded: true, apart: true })
  comments?: Comment[];

  @rest({
    methods: [all({ page: false }), one(), create(), remove({ preFetch: agentsOnly })],
  })
  @arrayProp({ items: Attachment, embedded: true, apart: true })
  attachments?: Attachment[];
}
