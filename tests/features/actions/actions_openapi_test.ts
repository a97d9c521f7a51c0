import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import {
  action,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  one,
  prop,
  rest,
  type StandardSchema,
} from "../../../mod.ts";
import { documentOf, mountDocumented } from "../../support/documented.ts";
import { Person, Ticket } from "../../fixtures/tickets.ts";
import { test } from "../../harness/testing.ts";

const MODELS = [Ticket, Person];

class Tally extends FrameworkModel {
  @prop({ type: Number, required: true })
  count!: number;
  @prop({ default: "days" })
  unit?: string;
  @prop()
  note?: string | null;
}

const Step: z.ZodType<{ by: number; next?: unknown }> = z.object({
  by: z.number().int().positive(),
  get next() {
    return Step.optional();
  },
});

/** A schema of a library that writes no JSON Schema. */
const Silent: StandardSchema = {
  "~standard": { version: 1, vendor: "tests", validate: (value) => ({ value }) },
};

@rest({
  route: "/meters",
  ifMatch: true,
  methods: [
    one(),
    create(),
    action("step-up", {
      on: "one",
      body: Step,
      answer: z.object({ now: z.number() }),
      run: async (_req, meter: Entity<Meter>, { by }) => {
        meter.value += by;
        await meter.save();
        return { now: meter.value };
      },
    }),
    action("tally", {
      on: "one",
      method: "GET",
      answer: Tally,
      run: (_req, meter: Entity<Meter>) => ({ count: meter.value, note: null }),
    }),
    action("copy", { on: "one", answer: Silent, body: Silent, run: (_req, _meter, body) => body }),
    action("reset", {
      on: "all",
      summary: "Set all to 0",
      tags: ["Upkeep"],
      operationId: "zero",
      run: async (_req, { model, filter }) => {
        await model.updateMany(filter, { value: 0 });
      },
    }),
    action("constructor", { on: "all", run: () => undefined }),
  ],
})
class Meter extends FrameworkModel {
  @prop({ type: Number, default: 0 })
  value!: number;
}

const statuses = (operation: { readonly responses: object }) =>
  Object.keys(operation.responses).join();

test("actions have operations with names, summaries and tags", async () => {
  const { document } = await documentOf([Ticket, Person, Meter]);
  const told = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, summary, tags }]) =>
      [method, path, operationId, summary, ...tags].join()
    )
  );
  const actions = [
    "post,/tickets/{id}/close,closeTickets,Close a ticket,Ticket",
    "get,/tickets/report,reportTickets,Report tickets,Ticket",
    "post,/tickets/{id}/notes/{subId}/touch,touchTicketsNotes,Touch a note of a ticket,Note",
    "post,/tickets/{id}/pinned/touch,touchTicketsPinned,Touch the pinned of a ticket,Note",
    "get,/tickets/{id}/watchers/names,namesTicketsWatchers,Names watchers of a ticket,Person",
    "post,/meters/{id}/step-up,stepUpMeters,Step up a meter,Meter",
    "post,/meters/reset,zero,Set all to 0,Upkeep",
    "post,/meters/constructor,constructorMeters,Constructor meters,Meter",
  ];
  assertEquals(actions.filter((line) => !told.includes(line)), [], told.join("\n"));
});

test("actions have the parameters, headers and statuses that count for them", async () => {
  const { operation } = await documentOf([Ticket, Person, Meter]);
  const parameters = (method: string, path: string) =>
    (operation(method, path).parameters ?? []).map(({ name, required }) => `${name} ${required}`);
  assertEquals(parameters("POST", "/meters/{id}/step-up"), [
    ...["id true", "q false", "If-Match true"],
  ]);
  assertEquals(parameters("GET", "/meters/{id}/tally"), [
    ...["id true", "q false", "If-None-Match false", "If-Match false"],
  ]);
  assertEquals(parameters("POST", "/meters/reset"), ["q false"]);
  const of = (method: string, path: string) => statuses(operation(method, path));
  assertEquals(
    of("POST", "/meters/{id}/step-up"),
    "200,204,400,404,409,412,415,428,500,503,default",
  );
  assertEquals(of("GET", "/meters/{id}/tally"), "200,204,304,400,404,412,500,503,default");
  assertEquals(of("POST", "/meters/reset"), "200,204,400,409,500,503,default");
  assertEquals(of("GET", "/tickets/report"), "200,204,304,400,500,503,default");
});

test("bodies of actions are as their classes and schemas say", async () => {
  const { operation, schemas, validator } = await documentOf([Ticket, Person, Meter]);
  const body = (path: string) =>
    operation("POST", path).requestBody?.content["application/json"]?.schema ?? {};
  assertEquals(body("/tickets/{id}/close"), { $ref: "#/components/schemas/CloseBodyNew" });
  assertEquals(schemas.CloseBodyNew?.required, ["reason"]);
  const isStep = validator(body("/meters/{id}/step-up"));
  assert(isStep({ by: 1, next: { by: 2 } }), JSON.stringify(isStep.errors));
  assertEquals([isStep({ by: 0 }), isStep({ by: 1, next: { by: 0 } })], [false, false]);
  const isCopy = validator(body("/meters/{id}/copy"));
  assertEquals([isCopy({ a: [1] }), isCopy([])], [true, false]);
  assertEquals(operation("GET", "/tickets/report").requestBody, undefined);
  assertEquals(operation("POST", "/meters/reset").requestBody, undefined);
});

test("what actions answer is as the document says", async (t) => {
  await using app = await mountDocumented([...MODELS, Meter]);
  const ticket = await app.created("/tickets", { title: "a", secret: "s" });
  const meter = await app.created("/meters", {});
  const star = { headers: { "if-match": "*" } };
  const cases = [
    ["POST", "/tickets/{id}/close", ticket, { reason: "done" }],
    ["GET", "/tickets/report", ticket, undefined],
    ["POST", "/meters/{id}/step-up", meter, { by: 2 }],
    ["GET", "/meters/{id}/tally", meter, undefined],
    ["POST", "/meters/{id}/copy", meter, { any: [1, null] }],
  ] as const;
  for (const [method, path, { _id }, body] of cases) {
    await t.step(path, async () => {
      const url = path.replace("{id}", String(_id));
      const reply = method === "GET" ? await app.get(url) : await app.post(url, body, star);
      const isAnswer = app.validator(app.answer(method, path));
      assertEquals(reply.status, 200, reply.text);
      assert(isAnswer(reply.body), JSON.stringify([reply.body, isAnswer.errors]));
    });
  }
  assertEquals((await app.post("/meters/reset")).status, 204);
  assertEquals(app.answer("POST", "/tickets/{id}/close"), { $ref: "#/components/schemas/Ticket" });
  const isNow = app.validator(app.answer("POST", "/meters/{id}/step-up"));
  assertEquals([isNow({ now: 1 }), isNow({})], [true, false]);
});

test("an answer that is no entity promises no identifier, and shows nothing hidden", async () => {
  const { schemas } = await documentOf([Ticket, Person, Meter]);
  assertEquals(schemas.TallyResult?.required, ["count", "unit"]);
  const shown = Object.keys(schemas.ReportResult?.properties ?? {});
  assertEquals(shown.filter((name) => !name.startsWith("_")), ["open", "oldest"]);
});

Deno.test("describe() has actions", () => {
  const routes = Framework.describe({ models: [Ticket, Person, Meter] });
  const described = (path: string) => {
    const { method, operation, model, status, body, bodySchema, answer, answerSchema } = routes
      .find((route) => route.path === path) ?? {};
    const names = (fields = body) => fields?.map(({ name }) => name).join();
    return [
      ...[method, operation, model, status, names(), bodySchema?.type],
      ...[names(answer), answerSchema?.type],
    ];
  };
  assertEquals(described("/tickets/:id/close"), [
    ...["POST", "close", "Ticket", 200, "reason,minutes,silent", undefined],
    ...["_id,title,state,reason,org,notes,pinned,watchers,owner,__v", undefined],
  ]);
  assertEquals(described("/tickets/report"), [
    ...["GET", "report", "Ticket", 200, undefined, undefined, "_id,open,oldest,__v", undefined],
  ]);
  assertEquals(described("/meters/:id/step-up"), [
    ...["POST", "step-up", "Meter", 200, "", "object", "", "object"],
  ]);
  assertEquals(described("/meters/:id/copy"), [
    ...["POST", "copy", "Meter", 200, "", "object", "", undefined],
  ]);
});
