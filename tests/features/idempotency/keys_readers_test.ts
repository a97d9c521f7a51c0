import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  RestError,
  update,
} from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { IDEMPOTENCY, keyed } from "./keyed.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

const tenantOf = (req: FrameworkRequest) => req.get("x-tenant") ?? "";
const as = (tenant: string, key = "k") => keyed(key, { "x-tenant": tenant });

class Line extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({
  route: "/invoices",
  methods: [
    create({
      idempotency: { ...IDEMPOTENCY, caller: tenantOf },
      preSave(req, invoice) {
        invoice.tenant = tenantOf(req);
        return invoice;
      },
    }),
    one(),
    all(),
    update(),
  ],
  scope: (req) => ({ tenant: tenantOf(req) }),
})
class Invoice extends FrameworkModel {
  @prop({ readonly: true })
  tenant?: string;
  @prop()
  text?: string;
  @rest({
    methods: [
      create({
        idempotency: { ...IDEMPOTENCY, caller: () => "all" },
        preSend(req, line) {
          line.text += `, ${req.framework.operation} for ${Object(req.framework.parent).tenant}`;
          return line;
        },
      }),
      all(),
    ],
  })
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
}

test("a key tells nothing to another tenant", async () => {
  await using app = await mount([Invoice]);
  const first = await app.created("/invoices", { text: "a" }, as("red"));
  const second = await app.created("/invoices", { text: "a" }, as("blue"));
  assertEquals(first._id === second._id, false);
  const other = await app.created("/invoices", { text: "other" }, as("green"));
  assertEquals([first.tenant, second.tenant, other.tenant], ["red", "blue", "green"]);
  assertEquals(await app.created("/invoices", { text: "a" }, as("red")), first);
});

test("a key below a parent tells nothing to who may not see the parent", async () => {
  await using app = await mount([Invoice]);
  const { _id } = await app.created("/invoices", { text: "a" }, as("red"));
  const path = `/invoices/${_id}/lines`;
  const first = await app.created(path, { text: "l" }, as("red"));
  assertEquals(first.text, "l, create for red");
  assertEquals(await app.created(path, { text: "l" }, as("red")), first);
  for (const text of ["l", "other"]) {
    assertEquals((await app.post(path, { text }, as("blue"))).status, 404);
  }
  assertEquals((await app.post(path, { text: "other" }, as("red"))).status, 422);
});

test("a replay of what has left the scope is a 404", async () => {
  await using app = await mount([Invoice]);
  await app.created("/invoices", { text: "a" }, as("red"));
  await getModel(Invoice).updateMany({}, { tenant: "blue" });
  const { status, headers } = await app.post("/invoices", { text: "a" }, as("red"));
  assertEquals([status, headers.get("location"), headers.get("etag")], [404, null, null]);
  assertEquals(await getModel(Invoice).countDocuments(), 1);
});

/** Hooks of `one()` and of a creation, each named by the header of a request. */
const HOOKS = {
  one: {
    preFetch(req: FrameworkRequest) {
      if (req.get("x-one") === "filter") req.framework.filter.text = "other";
      return req.get("x-one") !== "preFetch";
    },
    postFetch<E extends { text?: string }>(req: FrameworkRequest, entity: E) {
      if (req.get("x-one") === "postFetch") return null;
      if (req.get("x-one") === "param" && req.params.id !== String(Object(entity)._id)) return null;
      if (req.get("x-one") === "change") entity.text = "changed";
      return entity;
    },
    preSend<E extends { text?: string }>(req: FrameworkRequest, entity: E) {
      if (req.get("x-one") === "preSend") return null;
      entity.text += ", read";
      return entity;
    },
  },
  create: {
    preSend<E extends { text?: string }>(req: FrameworkRequest, entity: E) {
      if (req.get("x-create") === "preSend") return null;
      entity.text += `, ${req.framework.operation}`;
      return entity;
    },
  },
};

@rest({
  route: "/guarded",
  methods: [
    create({ idempotency: { ...IDEMPOTENCY, caller: () => "" }, ...HOOKS.create }),
    one(HOOKS.one),
  ],
})
@rest({
  route: "/lean",
  methods: [
    create({ idempotency: { ...IDEMPOTENCY, caller: () => "" } }),
    one({ ...HOOKS.one, lean: true }),
  ],
})
@rest({
  route: "/fetched",
  methods: [
    create({ idempotency: { ...IDEMPOTENCY, caller: () => "" } }),
    one({ fetch: (req) => getModel(Guarded).findOne({ _id: String(req.params.id), text: "a" }) }),
  ],
})
class Guarded extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ hidden: (req) => req.get("x-role") !== "admin" })
  secret?: string;
}

const repeat = (headers: Record<string, string>) => keyed("k", headers);

test("a replay shows what one() beside it shows", async () => {
  await using app = await mount([Guarded]);
  const first = await app.created("/guarded", { text: "a" }, keyed("k"));
  assertEquals(first.text, "a, create");
  const ask = (hook: string) => app.post("/guarded", { text: "a" }, repeat({ "x-one": hook }));
  const statuses: Record<string, number> = {
    ...{ "": 201, filter: 404, preFetch: 403, postFetch: 404, param: 201, preSend: 404 },
  };
  for (const [hook, status] of Object.entries(statuses)) {
    const reply = await ask(hook);
    assertEquals([reply.status, reply.headers.has("location")], [status, status === 201], hook);
    if (status === 201) assertEquals(reply.body, first);
  }
  assertEquals((await ask("change")).body.text, "changed, create");
  assertEquals(await getModel(Guarded).countDocuments(), 1);
});

test("a replay is sent by the hook of the creation", async () => {
  await using app = await mount([Guarded]);
  const hidden = repeat({ "x-create": "preSend" });
  const first = await app.post("/guarded", { text: "a" }, hidden);
  const second = await app.post("/guarded", { text: "a" }, hidden);
  assertEquals([first.status, second.status], [204, 204]);
  assertEquals(second.headers.get("location"), first.headers.get("location"));
  assertEquals((await app.created("/guarded", { text: "a" }, keyed("k"))).text, "a, create");
});

test("a replay passes a lean one(), and one() with its own fetch", async () => {
  await using app = await mount([Guarded]);
  for (const path of ["/lean", "/fetched"]) {
    const first = await app.created(path, { text: "a" }, keyed("k"));
    assertEquals(await app.created(path, { text: "a" }, keyed("k")), first);
  }
  const hidden = repeat({ "x-one": "postFetch" });
  assertEquals((await app.post("/lean", { text: "a" }, hidden)).status, 404);
  await getModel(Guarded).updateMany({}, { text: "b" });
  assertEquals((await app.post("/fetched", { text: "a" }, keyed("k"))).status, 404);
});

test("a replay shows the fields that its reader may see", async () => {
  await using app = await mount([Guarded]);
  const admin = repeat({ "x-role": "admin" });
  const body = { text: "a" };
  const { _id } = await app.created("/guarded", body, admin);
  await getModel(Guarded).updateMany({}, { secret: "s" });
  const shown = { _id, text: "a, create", __v: 0 };
  assertEquals<unknown>(await app.created("/guarded", body, admin), { ...shown, secret: "s" });
  assertEquals<unknown>(await app.created("/guarded", body, keyed("k")), shown);
});

const stated: { caller: () => unknown } = { caller: () => "me" };

@rest({
  route: "/called",
  methods: [
    create({
      idempotency: { keep: "1h", caller: () => stated.caller() as string },
      preFetch(req: FrameworkRequest) {
        if (req.body) req.body.stamp = crypto.randomUUID();
        return req.get("x-refused") === undefined;
      },
    }),
    one(),
  ],
})
class Called extends FrameworkModel {
  @prop()
  text?: string;
  @prop()
  stamp?: string;
}

test("a caller without a name has no keys", async () => {
  await using app = await mount([Called], { onError: () => {} });
  const send = (caller: () => unknown) => {
    stated.caller = caller;
    return app.post("/called", { text: "a" }, keyed("k"));
  };
  for (const caller of [() => undefined, () => 5, () => Promise.resolve(5)]) {
    assertEquals((await send(caller)).status, 500);
  }
  const refuse = () => {
    throw new RestError(401, "Who?");
  };
  assertEquals((await send(refuse)).status, 401);
  assertEquals(await getModel(Called).countDocuments(), 0);
  assertEquals((await send(() => "")).status, 201);
});

test("the preFetch hook of a creation comes before its key, and may change its body", async () => {
  await using app = await mount([Called]);
  stated.caller = () => "me";
  const first = await app.created("/called", { text: "a" }, keyed("k"));
  assertEquals(await app.created("/called", { text: "a" }, keyed("k")), first);
  for (const key of ["k", `"`]) {
    const refused = await app.post("/called", { text: "b" }, keyed(key, { "x-refused": "1" }));
    assertEquals(refused.status, 403);
  }
});

const connections = new Map<string, Connection>();

@rest({
  route: "/tenants",
  methods: [create({ idempotency: { ...IDEMPOTENCY, caller: () => "one for all" } }), one()],
  getConnection: (req) => connections.get(tenantOf(req)) ?? mongoose.connection,
})
class Tenanted extends FrameworkModel {
  @prop()
  text?: string;
}

test("the keys of a tenant are in the database of the tenant", async () => {
  await using app = await mount([Tenanted]);
  const names = ["red", "blue"];
  for (const name of names) {
    connections.set(name, mongoose.connection.useDb(`${app.database.name}_${name}`));
  }
  try {
    const [red, blue] = await Promise.all(
      names.map((name) => app.post("/tenants", { text: name }, as(name))),
    );
    assertEquals([red?.status, blue?.status], [201, 201]);
    assertEquals(await app.created("/tenants", { text: "red" }, as("red")), red?.body);
    const other = await app.post<ErrorBody>("/tenants", { text: "red" }, as("blue"));
    assertEquals(other.status, 422);
    const counts = [...connections.values(), app.database.connection].map((each) =>
      each.collection("mongrove_keys").countDocuments()
    );
    assertEquals(await Promise.all(counts), [1, 1, 0]);
  } finally {
    for (const each of connections.values()) await each.dropDatabase();
  }
});
