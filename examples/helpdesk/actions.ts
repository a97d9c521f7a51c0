import { action, type Entity, FrameworkModel, type FrameworkRequest } from "@mongrove/mongrove";
import { type ModelQuery, prop, RestError } from "@mongrove/mongrove";
import type { Ticket } from "./ticket.ts";
import { agentsOnly, USERS } from "./users.ts";

export class CloseBody extends FrameworkModel {
  @prop({ required: true, trim: true })
  reason!: string;
}

/** Closes a ticket: its customer may, and every agent. */
export const close = action("close", {
  on: "one",
  body: CloseBody,
  run: async (_req: FrameworkRequest, ticket: Entity<Ticket>, body) => {
    if (ticket.state === "closed") throw new RestError(409, "The ticket is closed");
    ticket.state = "closed";
    ticket.reason = body.reason;
    return await ticket.save();
  },
});

export class AssignBody extends FrameworkModel {
  @prop({ required: true })
  agent!: string;
}

/** Gives a ticket to an agent of its desk. */
export const assign = action("assign", {
  on: "one",
  body: AssignBody,
  preFetch: agentsOnly,
  run: async (_req: FrameworkRequest, ticket: Entity<Ticket>, body) => {
    const { desk, organisation } = USERS.get(body.agent) ?? {};
    if (desk !== ticket.desk || organisation !== undefined) {
      throw new RestError(400, "No such agent");
    }
    ticket.agent = body.agent;
    return await ticket.save();
  },
});

export class Report extends FrameworkModel {
  @prop({ type: Number, required: true })
  open!: number;

  @prop({ type: Number, required: true })
  closed!: number;
}

/** Counts the tickets that the request selects. */
export const report = action("report", {
  on: "all",
  method: "GET",
  answer: Report,
  run: async (_req: FrameworkRequest, { filter, model }: ModelQuery<Ticket>) => {
    const count = (state: string) => model.countDocuments({ $and: [filter, { state }] });
    const [open, closed] = await Promise.all([count("open"), count("closed")]);
    return { open, closed };
  },
});
