import { assertEquals } from "@std/assert";
import {
  action,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
  type Restricted,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";
/** A function of the body and the answer alone. */
const isNoAgent = (req: FrameworkRequest) => isCustomer(req);
const AGENT = { headers: { "x-role": "agent" } };

class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ default: "none", hidden: isNoAgent })
  remark!: Restricted<string>;
}

const add = action("add", {
  on: "one",
  body: Note,
  answer: Note,
  run: (_req: FrameworkRequest, _ticket: Entity<Ticket>, body) => ({
    text: body.text,
    remark: body.remark,
  }),
});

const touch = action("touch", {
  on: "one",
  run: async (_req: FrameworkRequest, ticket: Entity<Ticket>) => {
    ticket.title = "touched";
    return await ticket.save();
  },
});

@rest({ route: "/tickets", methods: [one(), create(), add, touch] })
class Ticket extends FrameworkModel {
  static override schemaOptions = { collection: "action_role_tickets" };
  @prop()
  title?: string;
  @prop({ hidden: isCustomer })
  secret?: string;
}

test("an action shows and takes what its reader may see and set", async () => {
  await using app = await mount([Ticket]);
  const { _id } = await getModel(Ticket).create({ title: "a", secret: "s" });
  const path = `/tickets/${_id}`;
  const body = { text: "t", remark: "r" };
  assertEquals((await app.post(`${path}/add`, body)).text, '{"text":"t"}');
  assertEquals((await app.post<unknown>(`${path}/add`, body, AGENT)).body, body);
  const seen = await app.post(`${path}/touch`);
  assertEquals([seen.body.title, seen.body.secret], ["touched", undefined]);
  assertEquals((await app.post(`${path}/touch`, undefined, AGENT)).body.secret, "s");
});
