import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { type Entity, type FrameworkRequest, getModel, RestError } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";
import { checked, safe, type SafeFields, secrets } from "../fixtures/safe.ts";

test("hidden fields are in no answer of any operation, virtuals and aliases included", async () => {
  const model = safe();
  await using app = await mount([model], { indexes: "lazy" });
  const send = checked(app);
  const url = "/safe";

  const made = await send("POST", url, secrets());
  assertEquals([made.status, made.body.shout], [201, "a!"]);
  const item = `${url}/${made.body._id}`;
  await send("GET", url);
  await send("GET", item);
  const changed = await send("PATCH", item, { ...secrets(), name: "b" });
  assertEquals(changed.status, 200);
  const stored = await getModel(model).findOne().lean() as SafeFields;
  assertEquals([stored.code, stored.lock?.code, stored.locks?.[0]?.code], Array(3).fill("s3cret"));
  await send("DELETE", item);
  await send("DELETE", url);
});

/** A secret that is too long. */
const LONG = "s3cret".repeat(5);

/** Bodies that are not valid, each with a field that its answer names. */
const INVALID: [string, object, field: string][] = [
  ["too long", { code: LONG }, "code"],
  ["no text", { code: { s3cret: "s3cret" } }, "code"],
  ["too large", { pin: 12345 }, "pin"],
  ["no number", { pin: "s3cret" }, "pin"],
  ["embedded", { lock: { code: LONG } }, "lock.code"],
  ["embedded, a part", { lock: { code: "s3cret", size: 99 } }, "lock.size"],
  ["in an array", { locks: [{ code: LONG }] }, "locks.0.code"],
  ["in a map", { map: { k: { code: LONG } } }, "map.k.code"],
  ["the whole object", { lock: { label: "unfit", code: "s3cret" } }, "lock"],
  ["the whole array", { locks: [{ label: "unfit", code: "s3cret" }] }, "locks"],
  ["no object", { lock: "s3cret" }, "lock"],
  ["no array of objects", { locks: ["s3cret"] }, "locks.0"],
];

test("hidden fields are in no message when a body is not valid", async (t) => {
  const model = safe();
  await using app = await mount([model], { indexes: "lazy" });
  const doc = await getModel(model).create({ name: "a" });
  for (const [name, body, field] of INVALID) {
    await t.step(name, async () => {
      for (const [method, path] of [["POST", ""], ["PATCH", `/${doc._id}`]] as const) {
        const { status, text, body: answer } = await app.send<Record<string, object>>(
          method,
          `/safe${path}`,
          { body },
        );
        assertEquals([status, answer.code as unknown], [400, "BAD_DATA"], text);
        assert(Object.keys(answer.errors ?? {}).includes(field), text);
        assertNotMatch(text, /s3cret|12345/);
      }
    });
  }
});

test("hidden values that the server has set are in no message when the object around them is not valid", async () => {
  const preSave = (_req: FrameworkRequest, entity: Entity<SafeFields>) => {
    for (const lock of entity.locks ?? []) lock.code = "s3cret";
    if (entity.lock) entity.lock.code = "s3cret";
    return entity;
  };
  const model = safe({ preSave });
  await using app = await mount([model], { indexes: "lazy" });
  const send = checked(app);

  for (const body of [{ lock: { label: "unfit" } }, { locks: [{ label: "unfit" }] }]) {
    const { status } = await send("POST", "/safe", body);
    assertEquals(status, 400);
  }
});

test("hidden fields are in no answer when a write conflicts", async () => {
  const model = safe({
    preSave: async (_req, entity) => {
      if (!entity.isNew) await getModel(model).collection.deleteOne({ _id: entity._id });
      return entity;
    },
  });
  await using app = await mount([model], { indexes: "lazy" });
  const send = checked(app);
  await getModel(model).createIndexes();
  const url = "/safe";
  const { body } = await send("POST", url, secrets());

  assertEquals((await send("POST", url, secrets())).status, 409);
  assertEquals(
    (await send("PATCH", `${url}/${body._id}`, { code: "s3cret", name: "b" })).status,
    409,
  );
});

test("hidden fields are in no answer when a hook puts the entity into an error", async () => {
  const model = safe({
    postFetch: (_req, entity) => {
      throw new RestError(409, {
        code: "TAKEN",
        current: entity,
        list: [entity],
        deep: { entity },
      });
    },
  });
  await using app = await mount([model], { indexes: "lazy" });
  const send = checked(app);
  const doc = await getModel(model).create(secrets() as never);

  const { status, body } = await send("GET", `/safe/${doc._id}`);

  assertEquals([status, (body.current as { name: string }).name], [409, "a"]);
});

test("hidden fields and unknown ones answer q alike", async () => {
  const model = safe();
  await using app = await mount([model], { indexes: "lazy" });
  await getModel(model).create(secrets() as never);
  const paths = ["nothing", "code", "pin", "open", "serial", "notes", "notes.deep", "lock.code"];

  for (const path of paths) {
    const { status, body } = await app.get(`/safe${asQuery({ [path]: "x" })}`);
    assertEquals([status, body], [400, {
      code: "BAD_FORMAT",
      message: `Field "${path}" is unknown`,
      field: path,
    }]);
  }
});

test("no detail of an error leaves the process, whichever hook fails", async (t) => {
  const fail = () => {
    throw Object.assign(new Error("s3cret at /srv/app.ts"), {
      status: 418,
      statusCode: 418,
      expose: true,
      body: { s3cret: 1 },
      headers: { "x-s3cret": "s3cret" },
    });
  };
  const hooks = ["preFetch", "fetch", "postFetch", "preSave", "persist", "preSend"];
  for (const hook of hooks) {
    await t.step(hook, async () => {
      const model = safe({ [hook]: fail });
      const errors: unknown[] = [];
      const onError = (_req: unknown, error: unknown) => {
        errors.push(error);
        return new RestError(500, { code: "INTERNAL", message: "Internal error" });
      };
      await using app = await mount([model], { onError, indexes: "lazy" });
      const send = checked(app);
      const doc = await getModel(model).create({ name: "a" });
      const { status, body } = await send("PATCH", `/safe/${doc._id}`, { name: "b" });
      assertEquals([status, body], [500, { code: "INTERNAL", message: "Internal error" }]);
      assertEquals(errors.length, 1);
    });
  }
});
