import { assertEquals } from "@std/assert";
import {
  all,
  and,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type ReadOnly,
  remove,
  replace,
  rest,
  RestError,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { rows, sendBatch } from "./shop.ts";
import { onlyStrict } from "../../support/only_strict.ts";

const batch = { path: "/batch" };

const asked: string[] = [];

function isBoss({ headers }: FrameworkRequest): boolean {
  return headers["x-user"] === "boss";
}

/** Signs the sender in, as hooks of an application may do. */
function signIn(req: FrameworkRequest): boolean {
  asked.push(`${req.method} ${req.path}`);
  Object.assign(req, { caller: req.headers["x-user"] });
  return req.headers["x-user"] !== undefined;
}

const METHODS = [
  all<Task>({ page: { max: 10 }, preFetch: signIn }),
  one<Task>({ preFetch: signIn }),
  create<Task>({ preFetch: signIn }),
  update<Task>({ preFetch: signIn }),
  remove<Task>({ preFetch: and(signIn, isBoss) }),
];

@rest({ route: "/tasks", tenant: "company", methods: METHODS })
class Task extends FrameworkModel {
  @prop({ readonly: true })
  readonly company?: ReadOnly<string>;
  @prop({ required: true })
  name!: string;
  @prop({ stamp: "createdBy" })
  readonly by?: ReadOnly<string>;
  @prop({ type: Number, hidden: (req) => !isBoss(req), readonly: (req) => !isBoss(req) })
  salary?: number;
}

@rest({
  route: "/notes",
  tenant: false,
  scope: (req) => ({ owner: req.headers["x-user"] }),
  methods: [
    all({ page: { max: 10 } }),
    create({
      preFetch(req) {
        if (req.body.text === "stop") {
          throw new RestError(418, { reason: "stop" }, {
            headers: { "X-Why": "stop" },
          });
        }
        return true;
      },
    }),
    update(),
    replace(),
  ],
})
class Note extends FrameworkModel {
  @prop()
  owner?: string;
  @prop()
  text?: string;
  @arrayProp({ items: String })
  tags?: string[];
}

const functions = { actor: 0, tenant: 0 };

function mountTasks(more = {}) {
  Object.assign(functions, { actor: 0, tenant: 0 });
  asked.length = 0;
  return mountOnReplicaSet([Task, Note], {
    batch,
    actor: (req) => {
      functions.actor++;
      return (req as { caller?: string }).caller;
    },
    tenant: (req) => {
      functions.tenant++;
      return req.headers["x-company"] as string;
    },
    ...more,
  });
}

const ANN = { "x-user": "ann", "x-company": "acme" };
const BOSS = { "x-user": "boss", "x-company": "acme" };
const EVE = { "x-user": "eve", "x-company": "bell" };

test("a request that signs nobody in does not make the later writes of a batch anonymous", async () => {
  await using app = await mountTasks();
  const requests = rows(["GET", "/notes"], ["POST", "/tasks", { name: "a" }]);
  const { status, body } = await sendBatch(app, requests, ANN);
  assertEquals([status, body.responses[1]?.body?.by], [200, "ann"]);
});

test("a batch has one sender and one tenant, whom each request signs in", async () => {
  await using app = await mountTasks();
  const { status, body: { responses } } = await sendBatch(
    app,
    rows(
      ["POST", "/tasks", { name: "a", company: "bell", by: "root" }],
      ["POST", "/tasks", { name: "b" }],
      ["GET", "/tasks"],
    ),
    ANN,
  );
  assertEquals(status, 200);
  assertEquals(functions, { actor: 3, tenant: 3 });
  assertEquals(asked, ["POST /tasks", "POST /tasks", "GET /tasks"]);
  const stored = await getModel(Task).find({}).lean();
  assertEquals(stored.map(({ by, company }) => [by, company]), [["ann", "acme"], ["ann", "acme"]]);
  assertEquals(Object(responses[2]?.body).length, 2);
});

/** Signs in a guest of the company in the URL, or the user of the request. */
function signInGuest(req: FrameworkRequest): boolean {
  const { company = req.headers["x-company"], guest = req.headers["x-user"] } = req.query;
  Object.assign(req, { caller: guest, company });
  if (req.res !== undefined) req.res.locals.isOwner = guest === "owner";
  req.res?.cookie("seen", String(guest), { httpOnly: true });
  return guest !== "nobody";
}

@rest({
  route: "/offers",
  tenant: "company",
  methods: [all({ page: { max: 10 }, preFetch: signInGuest })],
})
class Offer extends FrameworkModel {
  @prop({ readonly: true })
  readonly company?: ReadOnly<string>;
  @prop()
  text?: string;
}

@rest({ route: "/prices", tenant: false, methods: [all({ page: { max: 10 } })] })
class Price extends FrameworkModel {
  @prop({ hidden: (req) => req.res?.locals.isOwner !== true })
  cost?: string;
}

async function mountOffers() {
  const app = await mountOnReplicaSet([Offer, Price], {
    batch,
    actor: (req) => (req as { caller?: string }).caller,
    tenant: (req) => (req as unknown as { company: string }).company,
  });
  await getModel(Offer).collection.insertMany([
    { company: "acme", text: "secret" },
    { company: "bell", text: "mine" },
  ]);
  await getModel(Price).create({ cost: "7" });
  return app;
}

test("requests of a batch that sign in different senders or tenants are refused", async () => {
  await using app = await mountOffers();
  for (const other of ["company=acme", "guest=zoe"]) {
    const requests = rows(["GET", `/offers?${other}`], ["GET", "/offers"]);
    const { status, body } = await sendBatch(app, requests, EVE);
    assertEquals([status, body.failed], [403, "r1"], other);
  }
  const { status, body } = await sendBatch(app, rows(["GET", "/offers"], ["GET", "/offers"]), EVE);
  assertEquals([status, Object(body.responses[1]?.body)[0]?.text], [200, "mine"]);
});

test("what a hook of one request leaves on the response decides about no other request", async () => {
  await using app = await mountOffers();
  const requests = rows(["GET", "/offers?guest=owner"], ["GET", "/prices"]);
  const { status, body, headers, text } = await sendBatch(app, requests, EVE);
  assertEquals([status, "cost" in Object(body.responses[1]?.body)[0]], [200, false]);
  assertEquals(headers.getSetCookie(), ["seen=owner; Path=/; HttpOnly"]);
  assertEquals(text.includes("set-cookie"), false);
  const refused = await sendBatch(app, rows(["GET", "/offers?guest=nobody"]), EVE);
  assertEquals([refused.status, refused.headers.getSetCookie()], [
    403,
    ["seen=nobody; Path=/; HttpOnly"],
  ]);
});

test("a batch reaches no entity that its sender cannot reach", async () => {
  await using app = await mountTasks();
  const { _id } = await app.created("/tasks", { name: "a" }, { headers: ANN });
  await getModel(Note).create([{ owner: "ann", text: "mine" }, { owner: "eve", text: "hers" }]);
  const hers = String((await getModel(Note).findOne({ owner: "eve" }))?._id);
  for (
    const [method, path, body] of [
      ["GET", `/tasks/${_id}`],
      ["PATCH", `/tasks/${_id}`, { name: "b" }],
    ] as const
  ) {
    const { status, body: answer } = await sendBatch(app, rows([method, path, body]), EVE);
    assertEquals([status, answer.failed], [404, "r0"], method);
  }
  const lists = await sendBatch(app, rows(["GET", "/tasks"], ["GET", "/notes"]), EVE);
  assertEquals(lists.body.responses[0]?.body, [] as never);
  assertEquals(Object(lists.body.responses[1]?.body).length, 1);
  const foreign = await sendBatch(app, rows(["PATCH", `/notes/${hers}`, { text: "x" }]), ANN);
  assertEquals(foreign.status, 404);
  const taken = await sendBatch(app, rows(["PUT", `/notes/${hers}`, { owner: "ann" }]), ANN);
  assertEquals([taken.status, taken.body.code], [404, "NOT_FOUND"]);
  const out = await sendBatch(app, rows(["POST", "/notes", { owner: "eve", text: "x" }]), ANN);
  assertEquals([out.status, out.body.failed], [403, "r0"]);
  assertEquals(await getModel(Note).countDocuments(), 2);
});

test("hooks and rights decide about each request of a batch", async () => {
  await using app = await mountTasks();
  const { _id } = await app.created("/tasks", { name: "a", salary: 5 }, { headers: BOSS });
  const both = rows(["PATCH", `/tasks/${_id}`, { salary: 9 }], ["GET", `/tasks/${_id}`]);
  const ann = await sendBatch(app, both, ANN);
  assertEquals([ann.status, "salary" in Object(ann.body.responses[1]?.body)], [200, false]);
  assertEquals((await app.read(`/tasks/${_id}`, { headers: BOSS })).salary, 5);
  const boss = await sendBatch(app, both, BOSS);
  assertEquals(boss.body.responses[1]?.body?.salary, 9);
  const refused = rows(["PATCH", `/tasks/${_id}`, { name: "b" }], ["DELETE", `/tasks/${_id}`]);
  const { status, body } = await sendBatch(app, refused, ANN);
  assertEquals([status, body.code, body.failed], [403, "FORBIDDEN", "r1"]);
  const nobody = await sendBatch(app, refused, { "x-company": "acme" });
  assertEquals([nobody.status, nobody.body.failed], [403, "r0"]);
  assertEquals((await app.read(`/tasks/${_id}`, { headers: ANN })).name, "a");
});

test("the answer of a hook that refuses is the answer of the batch", async () => {
  await using app = await mountTasks();
  const sent = rows(["POST", "/notes", { owner: "ann" }], ["POST", "/notes", { text: "stop" }]);
  const { status, headers, body } = await sendBatch(app, sent, ANN);
  assertEquals([status, headers.get("x-why")], [418, "stop"]);
  assertEquals(body as unknown, { reason: "stop", failed: "r1" });
  assertEquals(await getModel(Note).countDocuments(), 0);
});

test("strict bodies and parameters are strict in batches", async () => {
  await using app = await mountTasks({ strict: onlyStrict("bodies", "parameters") });
  for (
    const [method, path, body] of [
      ["POST", "/notes", { owner: "ann", text: 1 }],
      ["POST", "/notes", { owner: "ann", other: "x" }],
      ["GET", "/notes?other=1"],
      ["POST", "/notes", { owner: "ann", text: { $result: "r0.tags" } }],
    ] as const
  ) {
    const first = ["POST", "/notes", { owner: "ann", tags: [] }] as const;
    const answer = await sendBatch(app, rows(first, [method, path, body]), ANN);
    assertEquals([answer.status, answer.body.failed], [400, "r1"], JSON.stringify(body));
  }
  assertEquals(await getModel(Note).countDocuments(), 0);
});

const seen: unknown[] = [];

@rest({
  route: "/counters",
  methods: [
    create({
      async preSave(req, counter) {
        const { model, filter } = await Framework.queryFor(req, Counter);
        const own = await req.framework.model();
        const direct = getModel(Counter);
        seen.push([
          await model.countDocuments(filter),
          await own.countDocuments({}),
          await direct.distinct("name"),
          (await direct.find({}).lean()).length,
        ]);
        await direct.insertMany([{ name: `of ${counter.name}`, isExtra: true }]);
        return counter;
      },
    }),
    update({
      async preFetch() {
        await getModel(Counter).create({ name: "lost", isExtra: true });
        return true;
      },
      async postFetch() {
        await getModel(Counter).create({ name: "lost", isExtra: true });
        throw new Error("A hook fails");
      },
    }),
  ],
})
class Counter extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Boolean })
  isExtra?: boolean;
}

test("statements of hooks are part of the transaction", async () => {
  seen.length = 0;
  const reported: unknown[] = [];
  await using app = await mountOnReplicaSet([Counter], {
    batch,
    onError: async (_req, error) => {
      await getModel(Counter).create({ name: "reported" });
      reported.push(Object(error).message);
    },
  });
  const two = rows(["POST", "/counters", { name: "a" }], ["POST", "/counters", { name: "b" }]);
  assertEquals((await sendBatch(app, two)).status, 200);
  assertEquals(seen, [[0, 0, [], 0], [2, 2, ["a", "of a"], 2]]);
  assertEquals(await getModel(Counter).countDocuments(), 4);
  const first = `/counters/${(await getModel(Counter).findOne({ name: "a" }))?._id}`;
  const fails = rows(
    ["POST", "/counters", { name: "c" }],
    ["PATCH", "/counters/{r0._id}", { name: "d" }],
  );
  for (const sent of [fails, fails.slice(1).map((each) => ({ ...each, path: first }))]) {
    const { status, body } = await sendBatch(app, sent);
    assertEquals([status, body.code, body.failed], [500, "INTERNAL", "r1"]);
  }
  assertEquals(reported, ["A hook fails", "A hook fails"]);
  assertEquals(await getModel(Counter).countDocuments({ name: { $in: ["c", "of c", "lost"] } }), 0);
  // The application can store errors although the batch is undone.
  assertEquals(await getModel(Counter).countDocuments({ name: "reported" }), 2);
});
