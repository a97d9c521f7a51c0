import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  remove,
  removeAll,
  rest,
  type Restricted,
  update,
} from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";

const tenantOf = (req: FrameworkRequest) => String(req.headers["x-tenant"]);
const ofTenant = (req: FrameworkRequest) => ({ tenant: tenantOf(req) });

/** Gives a new entity to the tenant of its request. */
function own<T extends { tenant?: string }>(req: FrameworkRequest, entity: T): T {
  return Object.assign(entity, { tenant: tenantOf(req) });
}

/** A ticket of a tenant, which many lists show. */
@rest({
  route: "/tickets",
  scope: ofTenant,
  methods: [
    all<Ticket>({ live: true, sort: ["level", "state"], select: ["state", "level", "tenant"] }),
    one(),
    create<Ticket>({ preSave: own }),
    update(),
    remove(),
    removeAll(),
  ],
})
@rest({
  route: "/pages",
  scope: ofTenant,
  methods: [all<Ticket>({ live: true, page: { size: 5, max: 20 }, sort: ["level", "state"] })],
})
@rest({
  route: "/hooked",
  scope: ofTenant,
  methods: [all<Ticket>({
    live: true,
    postFetch: (_req, ticket) => ticket.level === 3 ? null : ticket,
    preSend: (_req, ticket) => Object.assign(ticket, { state: `*${ticket.state}` }),
  })],
})
export class Ticket extends FrameworkModel {
  @prop()
  tenant?: string;
  @prop()
  state?: string;
  @prop({ type: Number })
  level?: number;
  @prop({ hidden: (req) => req.headers["x-role"] !== "admin" })
  price?: Restricted<string>;
}

/** What is written on a board. */
export class Line extends FrameworkModel {
  @prop()
  tenant?: string;
  @prop({ type: Number })
  level?: number;
}

/** A board of a tenant, with lines that it embeds. */
@rest({ route: "/boards", scope: ofTenant, methods: [one(), create<Board>({ preSave: own })] })
export class Board extends FrameworkModel {
  @prop()
  tenant?: string;
  @rest({ route: "/lines", methods: [all<Line>({ live: true }), create(), remove()] })
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
}
