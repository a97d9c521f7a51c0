export const TODO = `import { all, create, FrameworkModel, one, prop } from "@mongrove/mongrove";
import { type ReadOnly, remove, rest, update } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { adminsOnly } from "./user.ts";

/** The model. Each organisation has its todos. Administrators remove them. */
@rest({
  route: "/todos",
  tenant: "organisation",
  methods: [
    all({ page: { max: 100 }, count: true, sort: ["title"] }),
    one(),
    create(),
    update(),
    remove({ preFetch: adminsOnly }),
  ],
})
export class Todo extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly organisation!: ReadOnly<string>;

  @prop({ required: true, maxLength: 200 })
  title!: string;

  @prop({ default: false })
  done!: boolean;

  @prop({ stamp: "createdBy" })
  author?: ReadOnly<string>;

  static override configure(schema: Schema): void {
    schema.index({ organisation: 1, title: 1, _id: 1 });
  }
}
`;

export const PLAIN_TODO =
  `import { all, create, define, FrameworkModel, one } from "@mongrove/mongrove";
import { type ReadOnly, remove, update } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { adminsOnly } from "./user.ts";

/** The model. Each organisation has its todos. Administrators remove them. */
export class Todo extends FrameworkModel {
  readonly organisation!: ReadOnly<string>;
  title!: string;
  done!: boolean;
  author?: ReadOnly<string>;

  static override configure(schema: Schema): void {
    schema.index({ organisation: 1, title: 1, _id: 1 });
  }
}
define(Todo, {
  fields: {
    organisation: { required: true, readonly: true },
    title: { required: true, maxLength: 200 },
    done: { default: false },
    author: { stamp: "createdBy" },
  },
  rest: {
    route: "/todos",
    tenant: "organisation",
    methods: [
      all({ page: { max: 100 }, count: true, sort: ["title"] }),
      one(),
      create(),
      update(),
      remove({ preFetch: adminsOnly }),
    ],
  },
});
`;

const USER_HOOKS =
  `function checkRole(_req: FrameworkRequest, user: Entity<User>, previous?: Entity<User>) {
  return previous?.role === "admin" && user.role !== "admin" ? keepAdmin(user) : user;
}

/** Longer than a request takes. */
const LEAVING_MS = 30_000;

/**
 * Refuses to lose the last administrator. Whoever leaves is marked before the others are counted, so of two who leave
 * at one moment, at least one sees the other's mark.
 */
async function keepAdmin(user: Entity<User>) {
  const { _id, organisation } = user;
  const users = mongoose.connection.collection("user");
  await users.updateOne({ _id }, { $set: { leftAt: new Date() } });
  const leftAt = { $not: { $gt: new Date(Date.now() - LEAVING_MS) } };
  const others = { organisation, role: "admin", _id: { $ne: _id }, leftAt };
  if (await users.findOne(others)) return user;
  const message = "An organisation needs an administrator: name another one, or wait half a minute";
  throw new RestError(409, message);
}

/** Returns the names of users. */
export async function namesOf(ids: readonly unknown[]): Promise<Map<unknown, string>> {
  const users = await getModel(User).find({ _id: { $in: ids.map(String) } });
  return new Map(users.map(({ id, name }) => [id, name]));
}

/** Removes the password and the sessions of a user, before the user is removed. */
async function removeLogin(_req: FrameworkRequest, user: Entity<User>) {
  if (user.role === "admin") await keepAdmin(user);
  for (const name of ["account", "session"]) {
    await mongoose.connection.collection(name).deleteMany({ userId: user._id });
  }
  return user;
}
`;

export const USER =
  `import { all, FrameworkModel, type FrameworkRequest, one, prop } from "@mongrove/mongrove";
import { type Entity, getModel, type ReadOnly, remove, rest } from "@mongrove/mongrove";
import { RestError, update } from "@mongrove/mongrove";
import mongoose from "mongoose";

declare global {
  namespace Express {
    interface Request {
      /** The user of the session, or of the token. signedIn() sets it. */
      user?: {
        readonly id: string;
        readonly name: string;
        readonly organisation?: string | null | undefined;
        readonly role?: string | null | undefined;
      };
    }
  }
}

export const ROLES = ["member", "admin"] as const;

export function adminsOnly(req: FrameworkRequest): boolean {
  return req.user?.role === "admin";
}

/** A user of better-auth. Administrators change the roles of their organisation, and remove users. */
@rest({
  route: "/users",
  tenant: "organisation",
  methods: [
    all({ preFetch: adminsOnly, page: { max: 100 }, count: true }),
    one({ preFetch: adminsOnly }),
    update({ preFetch: adminsOnly, preSave: checkRole }),
    remove({ preFetch: adminsOnly, preSave: removeLogin }),
  ],
  schemaOptions: { collection: "user" },
})
export class User extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly organisation!: ReadOnly<string>;

  @prop({ required: true, readonly: true })
  readonly name!: ReadOnly<string>;

  @prop({ required: true, readonly: true })
  readonly email!: ReadOnly<string>;

  @prop({ enum: ROLES, default: "member" })
  role!: string;
}

${USER_HOOKS}`;

export const PLAIN_USER =
  `import { all, define, FrameworkModel, type FrameworkRequest, one } from "@mongrove/mongrove";
import { type Entity, getModel, type ReadOnly, remove, RestError } from "@mongrove/mongrove";
import { update } from "@mongrove/mongrove";
import mongoose from "mongoose";

declare global {
  namespace Express {
    interface Request {
      /** The user of the session, or of the token. signedIn() sets it. */
      user?: {
        readonly id: string;
        readonly name: string;
        readonly organisation?: string | null | undefined;
        readonly role?: string | null | undefined;
      };
    }
  }
}

export const ROLES = ["member", "admin"] as const;

export function adminsOnly(req: FrameworkRequest): boolean {
  return req.user?.role === "admin";
}

/** A user of better-auth. Administrators change the roles of their organisation, and remove users. */
export class User extends FrameworkModel {
  readonly organisation!: ReadOnly<string>;
  readonly name!: ReadOnly<string>;
  readonly email!: ReadOnly<string>;
  role!: string;
}
define(User, {
  fields: {
    organisation: { required: true, readonly: true },
    name: { required: true, readonly: true },
    email: { required: true, readonly: true },
    role: { enum: ROLES, default: "member" },
  },
  rest: {
    route: "/users",
    tenant: "organisation",
    methods: [
      all({ preFetch: adminsOnly, page: { max: 100 }, count: true }),
      one({ preFetch: adminsOnly }),
      update({ preFetch: adminsOnly, preSave: checkRole }),
      remove({ preFetch: adminsOnly, preSave: removeLogin }),
    ],
    schemaOptions: { collection: "user" },
  },
});

${USER_HOOKS}`;

const INVITATION_HOOKS = `/** A new link to sign up, which makes an earlier one void. */
export function newLink() {
  return { token: randomUUID(), expires: new Date(Date.now() + WEEK_MS) };
}

export function linkOf({ token, email }: Pick<Invitation, "token" | "email">): string {
  return \`\${appUrl.origin}/sign-up?\${new URLSearchParams({ invitation: token, email })}\`;
}

const dayOf = (date: Date) => date.toISOString().slice(0, 10);

async function sendInvitation(_req: FrameworkRequest, invitation: Entity<Invitation>) {
  const { email, organisation, expires } = invitation;
  await mail(email, \`Join \${organisation} until \${dayOf(expires)}: \${linkOf(invitation)}\`);
  return invitation;
}

function validOnly(token: unknown, email: unknown) {
  return { token: String(token), email: String(email), expires: { $gt: new Date() } };
}

/** Says whether a link of an invitation still works. If not, the page shows no form. */
export async function noteOf({ invitation: token, email }: Readonly<Record<string, unknown>>) {
  const invitation = await getModel(Invitation).findOne(validOnly(token, email));
  if (invitation === null) {
    const note = "This link has expired, or has been used or replaced. Ask for another one.";
    return { note, isVoid: true };
  }
  const { organisation, expires } = invitation;
  return { note: \`You join \${organisation}. The link is valid until \${dayOf(expires)}.\` };
}

/** Removes an invitation, so that it is used once. Returns null if the address has no such invitation. */
export async function useInvitation(token: unknown, email: string) {
  return await getModel(Invitation).findOneAndDelete(validOnly(token, email));
}
`;

const INVITATION_HEAD = `import { randomUUID } from "node:crypto";
import { appUrl, mail } from "./mail.ts";
import { adminsOnly, ROLES } from "./user.ts";

/** The addresses that better-auth takes. */
const ADDRESS = /^[\\w.'+-]+@[\\w-]+(\\.[\\w-]+)+$/;

const WEEK_MS = 7 * 24 * 60 * 60_000;

/** Mails another link. */
export const sendAgain = action("send-again", {
  on: "one",
  preFetch: adminsOnly,
  run: async (req: FrameworkRequest, invitation: Entity<Invitation>) => {
    await invitation.set(newLink()).save();
    return await sendInvitation(req, invitation);
  },
});

`;

export const INVITATION =
  `import { action, all, create, FrameworkModel, type FrameworkRequest } from "@mongrove/mongrove";
import { type Entity, getModel, type Hidden, one, prop, type ReadOnly } from "@mongrove/mongrove";
import { remove, rest } from "@mongrove/mongrove";
${INVITATION_HEAD}/** An address that may sign up. An administrator invites it into the own organisation. */
@rest({
  route: "/invitations",
  tenant: "organisation",
  methods: [
    all({ preFetch: adminsOnly, page: { max: 100 }, count: true }),
    one({ preFetch: adminsOnly }),
    create({ preFetch: adminsOnly, preSend: sendInvitation }),
    remove({ preFetch: adminsOnly }),
    sendAgain,
  ],
})
export class Invitation extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly organisation!: ReadOnly<string>;

  @prop({
    required: true,
    trim: true,
    lowercase: true,
    match: ADDRESS,
    unique: true,
    description: "An address such as ann@acme.example",
  })
  email!: string;

  @prop({ enum: ROLES, default: "member" })
  role!: string;

  @prop({ type: Date, default: () => newLink().expires, readonly: true })
  readonly expires!: ReadOnly<Date>;

  @prop({ default: () => newLink().token, hidden: true, readonly: true })
  readonly token!: Hidden<string>;
}

${INVITATION_HOOKS}`;

export const PLAIN_INVITATION = `import {
  action,
  all,
  create,
  define,
  FrameworkModel,
  type FrameworkRequest,
  one,
} from "@mongrove/mongrove";
import { type Entity, getModel, type Hidden, type ReadOnly, remove } from "@mongrove/mongrove";
${INVITATION_HEAD}/** An address that may sign up. An administrator invites it into the own organisation. */
export class Invitation extends FrameworkModel {
  readonly organisation!: ReadOnly<string>;
  email!: string;
  role!: string;
  readonly expires!: ReadOnly<Date>;
  readonly token!: Hidden<string>;
}
define(Invitation, {
  fields: {
    organisation: { required: true, readonly: true },
    email: {
      required: true,
      trim: true,
      lowercase: true,
      match: ADDRESS,
      unique: true,
      description: "An address such as ann@acme.example",
    },
    role: { enum: ROLES, default: "member" },
    expires: { type: Date, default: () => newLink().expires, readonly: true },
    token: { default: () => newLink().token, hidden: true, readonly: true },
  },
  rest: {
    route: "/invitations",
    tenant: "organisation",
    methods: [
      all({ preFetch: adminsOnly, page: { max: 100 }, count: true }),
      one({ preFetch: adminsOnly }),
      create({ preFetch: adminsOnly, preSend: sendInvitation }),
      remove({ preFetch: adminsOnly }),
      sendAgain,
    ],
  },
});

${INVITATION_HOOKS}`;
