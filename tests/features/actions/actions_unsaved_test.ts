import { assertEquals } from "@std/assert";
import {
  action,
  all,
  arrayProp,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount, type Mounted } from "../../support/support.ts";

class Sub extends FrameworkModel {
  @prop()
  text?: string;
}

const rename = action("rename", {
  on: "one",
  run: (_req, sub: Entity<Sub>) => {
    sub.text = "b";
    return sub;
  },
});

@rest({ route: "/others", methods: [all()] })
class Other extends Sub {}

class Shown extends FrameworkModel {
  @prop()
  state?: string;
}

type Run = (ticket: Entity<Ticket>) => unknown;

/** An action on one ticket. */
const on = (name: string, run: Run, saves?: false) =>
  action(name, { on: "one", saves, run: (_req, ticket: Entity<Ticket>) => run(ticket) as never });

const close: Run = (ticket) => {
  ticket.state = "closed";
  for (const sub of ticket.subs) sub.text = "b";
  return ticket;
};

@rest({
  route: "/tickets",
  methods: [
    one(),
    on("forgets", close),
    on("previews", close, false),
    on("keeps", (ticket) => ticket),
    on("returns", (ticket) => void close(ticket)),
    on("undoes", (ticket) => {
      ticket.state = "closed";
      ticket.state = "open";
      return ticket;
    }),
    on("saves", async (ticket) => {
      close(ticket);
      return await ticket.save();
    }),
    on("late", async (ticket) => {
      await ticket.save();
      return close(ticket);
    }),
    on("makes", () => new (getModel(Ticket))({ state: "new" })),
    on("makes-bare", () => new (getModel(Ticket))()),
    action("copies", {
      on: "one",
      answer: Shown,
      run: (_req, ticket: Entity<Ticket>) => ({ ...close(ticket) as Entity<Ticket> }) as never,
    }),
    action("marked", {
      on: "one",
      postFetch: (_req, ticket: Entity<Ticket>) => {
        ticket.state = "marked";
        return ticket;
      },
      run: (_req, ticket: Entity<Ticket>) => ticket,
    }),
    action("others", {
      on: "all",
      run: async (_req, { model }) => {
        const ticket = await model.findOne().orFail() as Entity<Ticket>;
        return close(ticket) as Entity<Ticket>;
      },
    }),
  ],
})
class Ticket extends FrameworkModel {
  @prop({ default: "open" })
  state!: string;
  @rest({ methods: [one(), rename] })
  @arrayProp({ items: Sub, embedded: true })
  subs!: Sub[];
  @rest({ methods: [one(), rename] })
  @arrayProp({ items: Other })
  others!: Ref<Other>[];
}

async function open(): Promise<{ app: Mounted; told: string[]; at: string; ids: string[] }> {
  const told: string[] = [];
  const app = await mount([Ticket, Other], {
    onError: (_req, error) => void told.push(String(error)),
  });
  const other = await getModel(Other).create({ text: "a" });
  const ticket = await getModel(Ticket).create({ subs: [{ text: "a" }], others: [other._id] });
  const ids = [String(ticket.subs[0]?._id), String(other._id)];
  return { app, told, at: `/tickets/${ticket._id}`, ids };
}

test("an action that returns changes that it has not saved is an error of the application", async () => {
  const { app, told, at } = await open();
  await using _app = app;
  for (const name of ["forgets", "late", "copies"]) {
    const reply = await app.post(`${at}/${name}`);
    assertEquals([reply.status, reply.text.includes("closed")], [500, false], name);
    const message = told.pop() ?? "";
    assertEquals(message.includes(`the action ${name}() of "Ticket"`), true, message);
    assertEquals(message.includes(`"state","subs.0.text"`), true, message);
    assertEquals(message.includes("Call save()"), true, message);
  }
  assertEquals((await app.post("/tickets/others")).status, 500);
  for (const name of ["makes", "makes-bare"]) {
    assertEquals((await app.post(`${at}/${name}`)).status, 500);
    assertEquals(told.pop()?.includes("a new entity that was not saved"), true);
  }
});

test("an action that saves, changes nothing, returns nothing or has saves: false is answered", async () => {
  const { app, told, at } = await open();
  await using _app = app;
  const names = ["previews", "keeps", "returns", "undoes", "marked", "saves"];
  const replies: unknown[] = [];
  for (const name of names) {
    const { status, body } = await app.post<{ state?: string }>(`${at}/${name}`);
    replies.push([status, body?.state]);
  }
  assertEquals([replies, told], [
    [[200, "closed"], [200, "open"], [204, undefined], [200, "open"], [200, "marked"], [
      200,
      "closed",
    ]],
    [],
  ]);
});

test("an action on a part that returns changes that it has not saved is an error of the application", async () => {
  const { app, told, at, ids: [sub, other] } = await open();
  await using _app = app;
  assertEquals((await app.post(`${at}/subs/${sub}/rename`)).status, 500);
  assertEquals((await app.post(`${at}/others/${other}/rename`)).status, 500);
  assertEquals(told.map((each) => /of "(\w+)".*"text"/.exec(each)?.[1]), ["Sub", "Other"]);
});
