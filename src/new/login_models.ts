/**
 * The models of a new application with a login, with decorators and without them.
 *
 * @module
 */

export const TODO = `import { all, create, FrameworkModel, one, prop } from "@mongrove/mongrove";
import { type ReadOnly, remove, rest, update } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { adminsOnly } from "./user.ts";

/** The model. Each organisation has its todos. Administrators remove them. */
@rest({
  route: "/todos",
  tenant: "organisation",
  methods: [
    all({ page: { max: 100 }, sort: ["title"] }),
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
      all({ page: { max: 100 }, sort: ["title"] }),
      one(),
      create(),
      update(),
      remove({ preFetch: adminsOnly }),
    ],
  },
});
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
    all({ preFetch: adminsOnly, page: { max: 100 } }),
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

function checkRole(_req: FrameworkRequest, user: Entity<User>, previous?: Entity<User>) {
  return previous?.role === "admin" && user.role !== "admin" ? keepAdmin(user) : user;
}

/** Refuses to lose the last administrator. Two who leave at the same moment are not seen: run make-admin. */
async function keepAdmin(user: Entity<User>) {
  const { _id, organisation } = user;
  const others = { organisation, role: "admin", _id: { $ne: _id } };
  if (await getModel(User).exists(others)) return user;
  throw new RestError(409, "An organisation needs an administrator: name another one first");
}

/** Names the authors of todos. */
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
      all({ preFetch: adminsOnly, page: { max: 100 } }),
      one({ preFetch: adminsOnly }),
      update({ preFetch: adminsOnly, preSave: checkRole }),
      remove({ preFetch: adminsOnly, preSave: removeLogin }),
    ],
    schemaOptions: { collection: "user" },
  },
});

function checkRole(_req: FrameworkRequest, user: Entity<User>, previous?: Entity<User>) {
  return previous?.role === "admin" && user.role !== "admin" ? keepAdmin(user) : user;
}

/** Refuses to lose the last administrator. Two who leave at the same moment are not seen: run make-admin. */
async function keepAdmin(user: Entity<User>) {
  const { _id, organisation } = user;
  const others = { organisation, role: "admin", _id: { $ne: _id } };
  if (await getModel(User).exists(others)) return user;
  throw new RestError(409, "An organisation needs an administrator: name another one first");
}

/** Names the authors of todos. */
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

export const INVITATION =
  `import { all, create, FrameworkModel, type FrameworkRequest, one } from "@mongrove/mongrove";
import { type Entity, getModel, prop, type ReadOnly, remove, rest } from "@mongrove/mongrove";
import { isObjectIdOrHexString, Types } from "mongoose";
import { appUrl, mail } from "./mail.ts";
import { adminsOnly, ROLES } from "./user.ts";

/** The addresses that better-auth takes. */
const ADDRESS = /^[\\w.'+-]+@[\\w-]+(\\.[\\w-]+)+$/;

/** An address that may sign up. An administrator invites it into the own organisation. */
@rest({
  route: "/invitations",
  tenant: "organisation",
  methods: [
    all({ preFetch: adminsOnly, page: { max: 100 } }),
    one({ preFetch: adminsOnly }),
    create({ preFetch: adminsOnly, preSend: sendInvitation }),
    remove({ preFetch: adminsOnly }),
  ],
})
export class Invitation extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly organisation!: ReadOnly<string>;

  @prop({ required: true, trim: true, lowercase: true, match: ADDRESS, unique: true })
  email!: string;

  @prop({ enum: ROLES, default: "member" })
  role!: string;
}

/** The link by which the invited person signs up. */
export function linkOf({ _id, email }: Pick<Invitation, "email"> & { _id: unknown }): string {
  return \`\${appUrl.origin}/sign-up?\${new URLSearchParams({ invitation: String(_id), email })}\`;
}

async function sendInvitation(_req: FrameworkRequest, invitation: Entity<Invitation>) {
  await mail(invitation.email, \`Join \${invitation.organisation}: \${linkOf(invitation)}\`);
  return invitation;
}

/** Removes an invitation, so that it is used once. Returns null if the address has no such invitation. */
export async function useInvitation(id: unknown, email: string) {
  if (typeof id !== "string" || !isObjectIdOrHexString(id)) return null;
  return await getModel(Invitation).findOneAndDelete({ _id: new Types.ObjectId(id), email });
}
`;

export const PLAIN_INVITATION = `import {
  all,
  create,
  define,
  FrameworkModel,
  type FrameworkRequest,
  one,
} from "@mongrove/mongrove";
import { type Entity, getModel, type ReadOnly, remove } from "@mongrove/mongrove";
import { isObjectIdOrHexString, Types } from "mongoose";
import { appUrl, mail } from "./mail.ts";
import { adminsOnly, ROLES } from "./user.ts";

/** The addresses that better-auth takes. */
const ADDRESS = /^[\\w.'+-]+@[\\w-]+(\\.[\\w-]+)+$/;

/** An address that may sign up. An administrator invites it into the own organisation. */
export class Invitation extends FrameworkModel {
  readonly organisation!: ReadOnly<string>;
  email!: string;
  role!: string;
}
define(Invitation, {
  fields: {
    organisation: { required: true, readonly: true },
    email: { required: true, trim: true, lowercase: true, match: ADDRESS, unique: true },
    role: { enum: ROLES, default: "member" },
  },
  rest: {
    route: "/invitations",
    tenant: "organisation",
    methods: [
      all({ preFetch: adminsOnly, page: { max: 100 } }),
      one({ preFetch: adminsOnly }),
      create({ preFetch: adminsOnly, preSend: sendInvitation }),
      remove({ preFetch: adminsOnly }),
    ],
  },
});

/** The link by which the invited person signs up. */
export function linkOf({ _id, email }: Pick<Invitation, "email"> & { _id: unknown }): string {
  return \`\${appUrl.origin}/sign-up?\${new URLSearchParams({ invitation: String(_id), email })}\`;
}

async function sendInvitation(_req: FrameworkRequest, invitation: Entity<Invitation>) {
  await mail(invitation.email, \`Join \${invitation.organisation}: \${linkOf(invitation)}\`);
  return invitation;
}

/** Removes an invitation, so that it is used once. Returns null if the address has no such invitation. */
export async function useInvitation(id: unknown, email: string) {
  if (typeof id !== "string" || !isObjectIdOrHexString(id)) return null;
  return await getModel(Invitation).findOneAndDelete({ _id: new Types.ObjectId(id), email });
}
`;
