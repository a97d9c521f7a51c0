import { assertEquals, assertStringIncludes } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  type Hidden,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import type { Reply } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import type { Client } from "../support/client.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";

class Part extends FrameworkModel {
  @prop({ hidden: true })
  pin?: Hidden<string>;
}

function preSave(_req: unknown, user: User): User {
  if (user.name === "hook") user.code = "taken";
  return user;
}

@rest({
  route: "/users",
  methods: [
    one(),
    create<User>({ many: 9, formats: ["csv", "ndjson"], preSave }),
    update({ preSave }),
  ],
})
@rest({ route: "/apart", methods: [create<User>({ many: 9, atomic: false, preSave })] })
class User extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true, unique: true, sparse: true })
  code?: Hidden<string>;
  @rest({ methods: [create<Part>({ many: 9 }), update()] })
  @arrayProp({ items: Part, embedded: true })
  parts!: Part[];

  static override configure(schema: Schema): void {
    schema.index({ "parts.pin": 1 }, { unique: true, sparse: true });
  }
}

const BY_BODY = { code: "taken" };
const BY_HOOK = { name: "hook" };
const IN_LIST = { parts: [{ pin: "taken" }] };

const ID = "0123456789abcdef01234567";
const [CODE, PIN] = ['"fields":["code"]', '"fields":["parts.pin"]'];
const TABLE = { raw: "code\ntaken", headers: { "content-type": "text/csv" } };

function lineOf(body: object) {
  return { raw: JSON.stringify(body), headers: { "content-type": "application/x-ndjson" } };
}

const REFUSED: [told: string | undefined, send: (app: Client) => Promise<Reply>][] = [
  [CODE, (app) => app.post("/users", BY_BODY)],
  [CODE, (app) => app.post("/users", undefined, lineOf(BY_BODY))],
  [CODE, (app) => app.post("/users", undefined, TABLE)],
  [CODE, (app) => app.post("/apart", [{}, BY_BODY])],
  [PIN, (app) => app.post("/users", IN_LIST)],
  [PIN, (app) => app.post("/users", undefined, lineOf(IN_LIST))],
  [PIN, (app) => app.patch(`/users/${ID}`, IN_LIST)],
  [PIN, (app) => app.post(`/users/${ID}/parts`, { pin: "taken" })],
  [PIN, (app) => app.post(`/users/${ID}/parts`, [{}, { pin: "taken" }])],
  [undefined, (app) => app.post("/users", BY_HOOK)],
  [undefined, (app) => app.post("/users", undefined, lineOf(BY_HOOK))],
  [undefined, (app) => app.post("/users", [{ code: "free" }, BY_HOOK])],
  [undefined, (app) => app.post("/apart", [{ code: "other" }, BY_HOOK])],
  [undefined, (app) => app.patch(`/users/${ID}`, BY_HOOK)],
];

test("a 409 names a hidden field exactly to who has set it", async () => {
  await using app = await mountOnReplicaSet([User]);
  const { collection } = getModel(User);
  await getModel(User).init();
  await app.created("/users", { ...BY_BODY, ...IN_LIST });
  await collection.insertOne({ _id: new mongoose.Types.ObjectId(ID), __v: 0 });
  for (const [index, [told, send]] of REFUSED.entries()) {
    const { text } = await send(app);
    assertStringIncludes(text, "CONFLICT");
    assertEquals(/"fields":[^\]]*\]/.exec(text)?.[0], told, `${index}: ${text}`);
  }
});
