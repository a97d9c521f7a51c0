/**
 * What the compiler must accept of actions, and what it must refuse. `deno test` type-checks this file: a case that
 * compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { z } from "zod";
import {
  action,
  all,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  rest,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { expect, type Same } from "../support/same_type.ts";

class CloseBody extends FrameworkModel {
  @prop({ required: true })
  reason!: string;
}

class Report extends FrameworkModel {
  @prop({ type: Number, required: true })
  open!: number;
}

export class Other extends FrameworkModel {
  @prop({ type: Number, required: true })
  size!: number;
}

const Parsed = z.object({ minutes: z.coerce.number() });

const close = action("close", {
  on: "one",
  body: CloseBody,
  run: async (_req, ticket: Entity<Ticket>, body) => {
    expect<Same<typeof body, CloseBody>>();
    ticket.state = body.reason;
    return await ticket.save();
  },
});
expect<Same<typeof close.operation, "close">>();
expect<Same<typeof close.body, typeof CloseBody>>();

const report = action("report", {
  on: "all",
  method: "GET",
  answer: Report,
  run: async (_req, { model, filter }) => ({ open: await model.countDocuments(filter) }),
});
expect<Same<typeof report.method, "GET">>();

const parsed = action("parsed", {
  on: "one",
  body: Parsed,
  answer: Parsed,
  run: (_req, _ticket: Entity<Ticket>, body) => {
    expect<Same<typeof body.minutes, number>>();
    return { minutes: body.minutes };
  },
});

const named = action<Ticket>("named", {
  on: "one",
  body: CloseBody,
  run: async (req, ticket, body: CloseBody) => {
    expect<Same<typeof req, FrameworkRequest<Ticket>>>();
    ticket.state = body.reason;
    return await ticket.save();
  },
});

const bodiless = action("bodiless", {
  on: "one",
  run: (_req, _ticket: Entity<Ticket>, body) => expect<Same<typeof body, undefined>>(),
});

const forOther = action("other", {
  on: "one",
  run: (_req, other: Entity<Other>) => other,
});

@rest({
  route: "/tickets",
  methods: [
    all(),
    one(),
    close,
    report,
    parsed,
    named,
    bodiless,
    action("inline", {
      on: "one",
      run: async (_req, ticket: Entity<Ticket>) => {
        // @ts-expect-error -- there is no such field
        ticket.stat = "x";
        return await ticket.save();
      },
    }),
  ],
})
export class Ticket extends FrameworkModel {
  @prop()
  state?: string;
}

export const refused = [
  // @ts-expect-error -- it needs "on"
  () => action("a", { run: () => {} }),
  // @ts-expect-error -- it needs "run"
  () => action("a", { on: "one" }),
  // @ts-expect-error -- there is no such target
  () => action("a", { on: "many", run: () => {} }),
  // @ts-expect-error -- there is no such method
  () => action("a", { on: "one", method: "PUT", run: () => {} }),
  // @ts-expect-error -- a name is a text
  () => action(7, { on: "one", run: () => {} }),
  // @ts-expect-error -- a body is a class or a schema
  () => action("a", { on: "one", body: { reason: String }, run: () => {} }),
  // @ts-expect-error -- a body is a model class
  () => action("a", { on: "one", body: Date, run: () => {} }),
  // @ts-expect-error -- an answer is a class or a schema
  () => action("a", { on: "one", answer: "Report", run: () => {} }),
  // @ts-expect-error -- it does not fit the answer
  () => action("a", { on: "all", answer: Report, run: () => ({ open: "x" }) }),
  // @ts-expect-error -- the answer lacks a field
  () => action("a", { on: "all", answer: Report, run: () => ({}) }),
  // @ts-expect-error -- it does not fit the answer's schema
  () => action("a", { on: "all", answer: z.object({ n: z.number() }), run: () => ({ n: "x" }) }),
  // @ts-expect-error -- without an answer, it gives the entity, or nothing
  () => action("a", { on: "one", run: (_req, _ticket: Entity<Ticket>) => 7 }),
  () =>
    action("a", {
      on: "one",
      body: CloseBody,
      // @ts-expect-error -- the body has no such field
      run: (_req, _ticket: Entity<Ticket>, body) => void body.reasons,
    }),
  // @ts-expect-error -- the body is of another class
  () => action("a", { on: "one", body: CloseBody, run: (_req, _it, _body: Report) => {} }),
  // @ts-expect-error -- the option is misspelled
  () => action("a", { on: "one", boby: CloseBody, run: () => {} }),
  // @ts-expect-error -- an action saves by itself
  () => action("a", { on: "one", preSave: () => null, run: () => {} }),
  // @ts-expect-error -- an action on all has no entity
  () => action<Ticket>("a", { on: "all", available: () => true, run: () => {} }),
  // @ts-expect-error -- an action on all has no entity
  () => action("a", { on: "all", available: () => true, run: () => {} }),
  // @ts-expect-error -- a rule gives a boolean
  () => action("a", { on: "one", available: () => "yes", run: () => {} }),
  // @ts-expect-error -- the entity has no such field
  () => action<Ticket>("a", { on: "one", available: (_req, ticket) => ticket.nope, run: () => {} }),
  () => {
    const open = action("a", {
      on: "one",
      available: (_req, ticket: Entity<Ticket>) => ticket.state === "open",
      run: () => {},
    });
    // @ts-expect-error -- its rule is for another class
    @rest({ route: "/x", methods: [open] })
    class X extends FrameworkModel {
      @prop({ type: Number })
      state?: number;
    }
    return X;
  },
  // @ts-expect-error -- an action on all has no entity
  () => action<Ticket>("a", { on: "all", postFetch: () => null, run: () => {} }),
  // @ts-expect-error -- an action on all gets no entity
  () => action<Ticket>("a", { on: "all", run: (_req, ticket) => void ticket.state }),
  () => {
    // @ts-expect-error -- it acts on another class
    @rest({ route: "/x", methods: [forOther] })
    class X extends FrameworkModel {
      @prop()
      state?: string;
    }
    return X;
  },
];

test("the compiler has checked the actions of this file", () => {});
