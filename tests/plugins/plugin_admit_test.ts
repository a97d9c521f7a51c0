import { assertEquals } from "@std/assert";
import { tracingChannel } from "node:diagnostics_channel";
import {
  all,
  create,
  FrameworkModel,
  type FrameworkRequest,
  prop,
  rest,
  RestError,
} from "../../mod.ts";
import { hideHeaders, type Plugin } from "../../src/plugin/mod.ts";
import { mountLive, openLive } from "../features/live/live.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";
import { Assignee, Task } from "./plugged.ts";

let seen: unknown[] = [];

@rest({
  route: "/seen",
  methods: [
    all({
      page: { max: 5 },
      preFetch(req: FrameworkRequest) {
        const { headers, headersDistinct, rawHeaders } = req;
        seen.push([
          Reflect.get(req, "who"),
          headers["x-secret"],
          headersDistinct["x-secret"],
          rawHeaders.includes("s3cret"),
        ]);
        return true;
      },
    }),
    create(),
  ],
})
class Seen extends FrameworkModel {
  @prop()
  name?: string;
}

/** Counts its runs, and admits by a secret header. */
function admitting() {
  const runs: string[] = [];
  const plugin: Plugin = {
    name: "admitting",
    admit(req) {
      const secret = req.headers["x-secret"];
      hideHeaders(req, ["X-Secret"]);
      runs.push(String(secret));
      if (secret === "wrong") throw new RestError(401, "Who?");
      if (secret === "broken") throw new Error("s3cret");
      if (secret === undefined) return undefined;
      Object.assign(req, { who: "ann" });
      return { via: "secret:1" };
    },
  };
  return { plugin, runs };
}

const SECRET = { headers: { "x-secret": "s3cret" } };

test("admit runs once, before the guard, and hides headers from hooks", async () => {
  seen = [];
  const { plugin, runs } = admitting();
  let guarded = 0;
  const guard = () => {
    guarded++;
    return true;
  };
  await using app = await mount([Seen], { plugins: [plugin], guard });
  assertEquals((await app.get("/seen", SECRET)).status, 200);
  assertEquals(seen, [["ann", undefined, undefined, false]]);
  assertEquals([runs.length, guarded], [1, 1]);
  assertEquals((await app.get("/seen", { headers: { "x-secret": "wrong" } })).status, 401);
  assertEquals([runs.length, guarded], [2, 1]);
  await app.get("/elsewhere");
  assertEquals(runs.length, 2, "a request that no route takes is not admitted");
});

test("an unknown error of admit is a 500 that says nothing", async () => {
  const errors: unknown[] = [];
  const { plugin } = admitting();
  const onError = (_req: unknown, error: unknown) => void errors.push(error);
  await using app = await mount([Seen], { plugins: [plugin], onError });
  const { status, text } = await app.get("/seen", { headers: { "x-secret": "broken" } });
  assertEquals([status, text.includes("s3cret"), errors.length], [500, false, 1]);
});

test("the means of a sender is a text of at most 200 characters", async () => {
  let via: unknown;
  const plugin = { name: "via", admit: () => ({ via }) } as Plugin;
  await using app = await mount([Seen], { plugins: [plugin], onError: () => {} });
  for (const [given, status] of [["x".repeat(200), 200], ["x".repeat(201), 500], [1, 500]]) {
    via = given;
    assertEquals([given, (await app.get("/seen")).status], [given, status]);
  }
});

test("a batch is admitted once, and its requests have the properties", async () => {
  seen = [];
  const { plugin, runs } = admitting();
  const mongo = await sharedReplicaSet();
  await using app = await mount([Seen], { mongo, plugins: [plugin], batch: { path: "/batch" } });
  const requests = ["1", "2"].map((id) => ({ id, method: "GET", path: "/seen" }));
  assertEquals((await app.post("/batch", { requests }, SECRET)).status, 200);
  assertEquals(seen, [0, 1].map(() => ["ann", undefined, undefined, false]));
  assertEquals(runs.length, 1);
  const refused = await app.post("/batch", { requests }, { headers: { "x-secret": "wrong" } });
  assertEquals([refused.status, runs.length], [401, 2]);
});

test("the history and the trace name the means of the sender", async () => {
  const { plugin } = admitting();
  const traced: unknown[] = [];
  const channel = tracingChannel("mongrove:request").asyncEnd;
  const note = (message: unknown) =>
    void traced.push(
      (message as { attributes: Record<string, unknown> }).attributes["mongrove.via"],
    );
  channel.subscribe(note);
  const mongo = await sharedReplicaSet();
  const actor = () => "ann";
  const batch = { path: "/batch" };
  await using app = await mount([Task, Assignee], { mongo, plugins: [plugin], actor, batch });
  const { _id } = await app.created("/tasks", { name: "a" }, SECRET);
  await app.updated(`/tasks/${_id}`, { name: "b" });
  const request = { id: "1", method: "PATCH", path: `/tasks/${_id}`, body: { name: "c" } };
  assertEquals((await app.post("/batch", { requests: [request] }, SECRET)).status, 200);
  const records = await app.read<{ via?: string }[]>(`/tasks/${_id}/history`);
  assertEquals((records as { via?: string }[]).map(({ via }) => via), [
    "secret:1",
    undefined,
    "secret:1",
  ]);
  await until(() => traced.length >= 5);
  channel.unsubscribe(note);
  assertEquals(traced, ["secret:1", undefined, "secret:1", "secret:1", undefined]);
});

test("a live list asks renew() again, and ends when it throws", async () => {
  let isRevoked = false;
  const purposes: string[] = [];
  const plugin: Plugin = {
    name: "renewing",
    admit: () => ({
      renew() {
        if (isRevoked) throw new RestError(401, "No more");
      },
    }),
    async around({ purpose }, next) {
      purposes.push(purpose);
      await next();
    },
  };
  const limits = { live: { renewMS: 50 } };
  await using app = await mountLive([Task, Assignee], { plugins: [plugin], limits });
  await using list = await openLive(`${app.url}/people`);
  await list.ready();
  await until(() => purposes.filter((each) => each === "renewal").length > 1);
  assertEquals(purposes[0], "answer");
  isRevoked = true;
  await list.ended();
});
