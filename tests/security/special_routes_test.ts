import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { mcp } from "@mongrove/mongrove/mcp";
// @ts-types="express-types"
import express from "express";
import {
  action,
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type Hidden,
  type ModelQuery,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
  type Restricted,
  StoredFile,
  update,
  updateAll,
} from "../../mod.ts";
import { openLive } from "../features/live/live.ts";
import type { Reply } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { serveTools } from "../mcp/mcp.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { asQuery } from "../support/support.ts";
import { until } from "../support/until.ts";

const isGuest = ({ headers }: FrameworkRequest) => headers["x-role"] !== "staff";

/** The name and the values of the field that nobody sees, and of the one that only staff sees. */
const ALWAYS = /pincode|s3cret/i;
const BY_ROLE = /wage|p4y/i;

class Detail extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ hidden: true, readonly: true })
  pincode?: Hidden<string>;
  @prop({ hidden: isGuest })
  wage?: Restricted<string>;
}

@rest({
  route: "/people",
  history: true,
  trash: { see: () => true },
  methods: [
    all<Person>({
      live: true,
      page: { max: 9 },
      sort: ["name", "wage"],
      select: ["name", "wage"],
      filter: ["name", "wage", "inner.wage"],
      formats: ["csv", "ndjson"],
      groups: { by: ["name", "wage"] },
      distinct: ["name", "wage"],
    }),
    one(),
    create<Person>({
      many: 9,
      formats: ["csv", "ndjson"],
      idempotency: { keep: "1h", caller: ({ headers }) => String(headers["x-role"]) },
    }),
    update(),
    updateAll<Person>({ fields: ["name", "wage"], max: 9 }),
    remove(),
    replace(),
    action<Person>("touch", {
      on: "one",
      async run(_req, person) {
        person.name = "touched";
        return await person.save();
      },
    }),
    action("report", {
      on: "all",
      method: "GET",
      run: async (_req: FrameworkRequest, { model, filter }: ModelQuery<Person>) =>
        await model.findOne(filter),
    }),
  ],
})
class Person extends FrameworkModel {
  @prop({ required: true, maxLength: 20 })
  name!: string;
  @prop({ hidden: true, readonly: true, default: "s3cret" })
  pincode!: Hidden<string>;
  @prop({ hidden: isGuest, default: "p4y", maxLength: 20 })
  wage!: Restricted<string>;
  @prop({ type: Detail })
  inner?: Detail;
  @rest({ methods: [all(), one(), create(), update(), remove()] })
  @arrayProp({ items: Detail, embedded: true })
  parts!: Detail[];
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 1000, hidden: isGuest })
  wageSlip?: StoredFile;
}

@rest({ route: "/notes", methods: [all({ populate: { person: true } }), create()] })
class Note extends FrameworkModel {
  @prop({ ref: Person })
  person?: Ref<Person>;
}

/** Only one slot can be stored, because its hidden defaults are unique. */
@rest({ route: "/slots", methods: [create({ many: 3, atomic: false, formats: ["ndjson"] })] })
class Slot extends FrameworkModel {
  @prop({ hidden: isGuest, default: "p4y", unique: true })
  wage!: Restricted<string>;
  @prop()
  label?: string;
}

@rest({ route: "/safes", methods: [create({ many: 3, atomic: false, formats: ["ndjson"] })] })
class Safe extends FrameworkModel {
  @prop({ hidden: true, default: "s3cret", unique: true })
  pincode!: Hidden<string>;
}

const MODELS = [Person, Note, Slot, Safe];

async function serve() {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({ models: MODELS, batch: { path: "/batch", max: 9 } });
  app.use(api);
  const operations = ["all", "one", "create", "update"] as const;
  const actions = ["touch", "report", "history", "revert", "restore"];
  app.use("/mcp", mcp(api, { expose: [{ model: Person, operations, actions }] }));
  app.use(Framework.errors({ notFound: true }));
  const served = await serveTools(app, await sharedReplicaSet());
  await Promise.all(MODELS.map((each) => getModel(each).init()));
  return served;
}

/** What an answer tells. */
const told = ({ status, headers, text }: Pick<Reply, "status" | "headers" | "text">) =>
  `${status} ${[...headers].join("\n")}\n${text}`;

interface Caller {
  readonly app: Awaited<ReturnType<typeof serve>>;
  readonly path: string;
  readonly id: string;
  readonly role: string;
  /** Sends a request as the caller, and returns what its answer tells. */
  send(method: string, path: string, body?: unknown, headers?: object): Promise<string>;
}

type Row = (caller: Caller) => Promise<string>;

const STAFF = { "x-role": "staff" };
const NDJSON = { accept: "application/x-ndjson", "content-type": "application/x-ndjson" };
const EXISTING = { "content-type": "application/json", "if-none-match": "*" };

/** The answers in which staff sees the field of its role. */
const SHOWN: Readonly<Record<string, Row>> = {
  "a creation": ({ send }) => send("POST", "/people", { name: "b" }),
  "an update": ({ send, path }) => send("PATCH", path, { name: "b" }),
  "a replacement": ({ send, path }) => send("PUT", path, { name: "b", inner: { label: "x" } }),
  async history({ send, path }) {
    await send("PATCH", path, { name: "b", wage: "p4y2" }, STAFF);
    return await send("GET", `${path}/history`);
  },
  async "a record of history"({ send, path }) {
    await send("PATCH", path, { name: "b", wage: "p4y2" }, STAFF);
    return await send("GET", `${path}/history?limit=1`);
  },
  async revert({ send, path }) {
    await send("PATCH", path, { name: "b" });
    return await send("POST", `${path}/revert`, { version: 0 });
  },
  async "the trash"({ send, path }) {
    await send("DELETE", path);
    const list = await send("GET", "/people?trash=only");
    return list + await send("GET", `${path}?trash=only`);
  },
  async "history in the trash"({ send, path }) {
    await send("PATCH", path, { inner: { wage: "p4y2" } }, STAFF);
    await send("DELETE", path);
    return await send("GET", `${path}/history?trash=only`);
  },
  async restore({ send, path }) {
    await send("DELETE", path);
    return await send("POST", `${path}/restore`);
  },
  async "a replay of a key"({ send, role }) {
    const key = { "idempotency-key": `k${role}` };
    await send("POST", "/people", { name: "b" }, key);
    return await send("POST", "/people", { name: "b" }, key);
  },
  "an action": ({ send, path }) => send("POST", `${path}/touch`),
  "an action on all": ({ send }) => send("GET", "/people/report"),
  "CSV": ({ send }) => send("GET", "/people", undefined, { accept: "text/csv" }),
  "NDJSON": ({ send }) => send("GET", "/people", undefined, NDJSON),
  "the links of a list": ({ send }) => send("GET", "/people?sort=wage&limit=1"),
  "a selection": ({ send }) => send("GET", "/people?select=nothing"),
  "an order": ({ send }) => send("GET", "/people?sort=nothing"),
  "a filter": ({ send }) => send("GET", `/people${asQuery({ nothing: 1 })}`),
  "distinct": ({ send }) => send("GET", "/people?distinct=nothing"),
  "groups": ({ send }) => send("GET", "/people?group=nothing"),

  "parts": async ({ send, path }) => {
    const list = await send("GET", `${path}/parts`);
    return list + await send("POST", `${path}/parts`, { label: "b", wage: "p4y" });
  },
  "populate": async ({ send, id }) => {
    await send("POST", "/notes", { person: id });
    return await send("GET", "/notes?populate=person");
  },
  "a batch": ({ send, path }) =>
    send("POST", "/batch", {
      requests: [
        { id: "a", method: "POST", path: "/people", body: { name: "b" } },
        { id: "b", method: "PATCH", path, body: { name: "b" } },
        { id: "c", method: "GET", path: "/people/{a._id}" },
        { id: "d", method: "GET", path: "/people?limit=9" },
      ],
    }),
  "a batch that takes a value": async ({ send, path }) => {
    const requests = [
      { id: "a", method: "GET", path },
      { id: "b", method: "POST", path: "/people", body: { name: { $result: "a.wage" } } },
    ];
    return (await send("POST", "/batch", { requests })).replace('"a.wage', "");
  },
  "a conflict": async ({ send }) => {
    await send("POST", "/slots", {});
    return await send("POST", "/slots", {});
  },
  "a conflict of one of several": async ({ send }) => {
    await send("POST", "/slots", {});
    return await send("POST", "/slots", [{}, {}]);
  },
  "a conflict in a batch": async ({ send }) => {
    await send("POST", "/slots", {});
    const requests = [{ id: "a", method: "POST", path: "/slots", body: {} }];
    return await send("POST", "/batch", { requests });
  },
  "a conflict of a line": async ({ send }) => {
    await send("POST", "/slots", {});
    return await send("POST", "/slots", `{}\n{}\n`, NDJSON);
  },
  "the lines of an import": ({ send }) =>
    send("POST", "/people", `{"name":"${"n".repeat(30)}","wage":"${"w".repeat(30)}"}\n`, NDJSON),
  "an invalid body": ({ send }) =>
    send("POST", "/people", { name: "n".repeat(30), wage: "w".repeat(30) }),
  "an update of several": async ({ send }) => {
    const patch = (field: string) =>
      send("PATCH", `/people${asQuery({})}`, { name: "n".repeat(30), [field]: "w".repeat(30) });
    const [hidden, unknown] = [await patch("wage"), await patch("none")];
    // The answer repeats a name that the body has, so a hidden one must be answered as an unknown one.
    const undated = (text: string) => text.replace(/^date,.*$/m, "");
    return undated(hidden.replaceAll("wage", "none")) === undated(unknown) ? unknown : hidden;
  },
  "the head of a file": async ({ send, path }) => {
    const headers = {
      ...{ ...STAFF, "content-type": "text/plain" },
      "content-disposition": 'attachment; filename="p4y.txt"',
    };
    await send("PUT", `${path}/wageSlip`, "slip", headers);
    const heads = await send("HEAD", `${path}/wageSlip`);
    return heads + await send("GET", `${path}/wageSlip`);
  },
  "the tool list": ({ app, role }) => tool(app, role, "list", {}),
  "the tool read": ({ app, role, id }) => tool(app, role, "read", { id }),
  "the tool describe": ({ app, role }) => tool(app, role, "describe", {}),
  "the tool create": ({ app, role }) => tool(app, role, "create", { body: { name: "b" } }),
  "the tool update": ({ app, role, id }) => tool(app, role, "update", { id, body: { name: "b" } }),
  "the tool touch": ({ app, role, id }) => tool(app, role, "action", { action: "touch", id }),
  async "the tool history"({ app, role, id, path, send }) {
    await send("PATCH", path, { wage: "p4y2" }, STAFF);
    return await tool(app, role, "action", { action: "history", id });
  },
  "the tool revert": ({ app, role, id }) =>
    tool(app, role, "action", { action: "revert", id, body: { version: 0 } }),
  "a live list": async ({ app, role, path, send }) => {
    await using live = await openLive(`${app.url}/people`, { "x-role": role });
    const others = { "x-role": role === "staff" ? "guest" : "staff" };
    await using other = await openLive(`${app.url}/people`, others);
    await Promise.all([live.ready(), other.ready()]);
    await send("PATCH", path, { name: "live" });
    const isLive = () => [live, other].every(({ wire }) => wire.includes("live"));
    await until(isLive);
    return live.wire;
  },
};

/** The answers that tell nobody. */
const SILENT: Readonly<Record<string, Row>> = {
  "a stale version": ({ send, path }) =>
    send("PATCH", path, { name: "b" }, { "if-match": '"9.x"' }),
  "a PUT of what exists": ({ send, path }) => send("PUT", path, { name: "b" }, EXISTING),
  "a conflict of a hidden value": async ({ send }) => {
    await send("POST", "/safes", {});
    const single = await send("POST", "/safes", {});
    const several = await send("POST", "/safes", [{}, {}]);
    return single + several + await send("POST", "/safes", `{}\n{}\n`, NDJSON);
  },
  "a minimal answer": ({ send }) =>
    send("POST", "/people", { name: "b" }, { prefer: "return=minimal" }),
  "an action that is not there": ({ send, path }) => send("POST", `${path}/nothing`),
};

async function tool(app: Caller["app"], role: string, name: string, args: object) {
  const told = await app.call(name, { model: "Person", ...args }, { "x-role": role });
  return JSON.stringify(told);
}

async function callerOf(app: Caller["app"], role: string): Promise<Caller> {
  const detail = { label: "a", pincode: "s3cret", wage: "p4y" };
  await Promise.all(MODELS.map((each) => getModel(each).collection.deleteMany({})));
  const { body: { _id: id } } = await app.post<{ _id: string }>("/people", { name: "a" });
  await getModel(Person).collection.updateOne({}, {
    $set: {
      inner: detail,
      parts: [{ _id: new (getModel(Person).base.Types.ObjectId)(), ...detail }],
    },
  });
  const send: Caller["send"] = async (method, path, body, headers = {}) => {
    const isText = typeof body === "string";
    const reply = await app.send(method, path, {
      headers: { "x-role": role, ...headers },
      ...body !== undefined && (isText ? { raw: body } : { body }),
    });
    return told(reply);
  };
  return { app, role, id, path: `/people/${id}`, send };
}

test("no answer tells what is hidden from its caller", async (t) => {
  await using app = await serve();
  for (const [rows, isShown] of [[SHOWN, true], [SILENT, false]] as const) {
    for (const [name, run] of Object.entries(rows)) {
      await t.step(name, async () => {
        for (const role of ["guest", "staff"]) {
          const text = await run(await callerOf(app, role));
          assertNotMatch(text, ALWAYS);
          if (role === "guest" || !isShown) assertNotMatch(text, BY_ROLE);
          else assertMatch(text, BY_ROLE);
          assertEquals(/^5\d\d /m.test(text), false, text);
        }
      });
    }
  }
});
