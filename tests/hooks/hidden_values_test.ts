import { assertEquals } from "@std/assert";
import { create, FrameworkModel, type FrameworkRequest, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const hooks = {
  preSave: (req: FrameworkRequest, entity: Account) =>
    Object.assign(entity, { [String(req.query.field)]: "wrong" }),
};

@rest({ route: "/accounts", methods: [create(hooks), update(hooks)] })
class Account extends FrameworkModel {
  @prop({ enum: ["right"] })
  shown?: string;
  @prop({ hidden: true, enum: ["right"] })
  secret?: string;
}

test("a hook's value that a validator refuses is a 400, and a 500 for a hidden field", async () => {
  await using app = await mount([Account]);
  const { _id } = await app.created("/accounts?field=none", {});
  for (const [field, expected] of [["shown", 400], ["secret", 500]] as const) {
    const made = await app.post(`/accounts?field=${field}`, {});
    const changed = await app.patch(`/accounts/${_id}?field=${field}`, {});
    assertEquals([field, made.status, changed.status], [field, expected, expected]);
  }
});
