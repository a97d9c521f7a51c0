import { assertEquals } from "@std/assert";
import {
  action,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Seal extends FrameworkModel {
  @prop({ immutable: true })
  mark?: string;
  @prop()
  colour?: string;
}

class Charter extends FrameworkModel {
  @prop({ immutable: true })
  issuer?: string;
  @prop({ immutable: true, hidden: true })
  code?: string;
  @prop()
  text?: string;
  @prop({ type: Seal })
  seal?: Seal;
  @rest({ methods: [create(), update()] })
  @arrayProp({ items: Seal, embedded: true })
  copies!: Seal[];
}

const stamp = action("stamp", { on: "one", body: Seal, run: () => null });

@rest({ route: "/charters", methods: [one(), create(), update(), replace(), stamp] })
class PlainCharter extends Charter {}

@rest({
  route: "/signed-charters",
  methods: [one(), create(), update({ preSave: (_req, charter) => charter }), replace()],
})
class SignedCharter extends Charter {}

const whole = {
  issuer: "Ann",
  code: "c",
  seal: { mark: "a", colour: "red" },
  copies: [{ mark: "b", colour: "red" }],
};

async function mountCharters(route: string) {
  const app = await mount([PlainCharter, SignedCharter], { strict: true, guard: () => true });
  const charter = await app.created<EntityBody & { copies: EntityBody[] }>(route, whole);
  return Object.assign(app, { charter, path: `${route}/${charter._id}` });
}

for (const route of ["/charters", "/signed-charters"]) {
  test(`a strict body of ${route} cannot change an immutable value, but repeat it`, async () => {
    await using app = await mountCharters(route);
    const { charter, path } = app;
    const [{ _id }] = charter.copies as [EntityBody];
    const refused: [string, object, string][] = [
      ["issuer", { issuer: "Bob" }, "readonly"],
      ["issuer", { issuer: null }, "readonly"],
      ["code", { code: "d" }, "unknown"],
      ["code", { code: "c" }, "unknown"],
      ["seal.mark", { seal: { mark: "z" } }, "readonly"],
      ["copies.0.mark", { copies: [{ _id, mark: "z" }] }, "readonly"],
    ];
    for (const [field, body, kind] of refused) {
      for (const write of [app.patch, app.put]) {
        const { status, body: { errors }, text } = await write<ErrorBody>(path, body);
        assertEquals([status, errors?.[field]?.kind], [400, kind], text);
      }
    }
    assertEquals(await app.read(path), charter);
    assertEquals((await app.put(path, charter)).status, 200);
    assertEquals((await app.patch(path, { issuer: "Ann", text: "x" })).status, 200);
  });
}

test("a strict body sets immutable values of new entities and elements, and of actions", async () => {
  await using app = await mountCharters("/charters");
  const { path } = app;
  const { copies } = await app.updated<EntityBody & { copies: Seal[] }>(path, {
    copies: [{ mark: "new" }],
  });
  assertEquals(copies.map(({ mark }) => mark), ["new"]);
  assertEquals((await app.post(`${path}/copies`, { mark: "z" })).status, 201);
  assertEquals((await app.post(`${path}/stamp`, { mark: "z" })).status, 204);
  const { status, body } = await app.put("/charters/0123456789abcdef01234567", { issuer: "Eve" });
  assertEquals([status, body.issuer], [201, "Eve"]);
});

test("an update cannot set an immutable value in an embedded object that is not stored", async () => {
  await using app = await mountCharters("/charters");
  await app.updated(app.path, { seal: null });
  const { status, body } = await app.patch<ErrorBody>(app.path, { seal: { mark: "z" } });
  assertEquals([status, body.errors?.["seal.mark"]?.kind], [400, "readonly"]);
});
