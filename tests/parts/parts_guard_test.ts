import { assertEquals } from "@std/assert";
import {
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  RestError,
} from "../../mod.ts";
import { type Client, client } from "../support/client.ts";
import { Note } from "../fixtures/library.ts";
import { SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { CALLS, sender } from "./part_calls.ts";
import { type EntityBody, mount } from "../support/support.ts";

/** A parent whose one() guards itself in every way, by a header; it is sent back as the guard's answer. */
const guards = {
  preFetch: (req: FrameworkRequest): boolean => {
    if (req.headers["x-guard"] === "401") throw new RestError(401, { code: "UNAUTHENTICATED" });
    return req.headers["x-guard"] !== "403";
  },
  postFetch: (req: FrameworkRequest, entity: object): object | null => {
    if (req.headers["x-guard"] === "418") throw new RestError(418, "Short and stout");
    return req.headers["x-guard"] === "404" ? null : entity;
  },
};

@rest({
  route: "/safes",
  methods: [one(guards), create()],
  scope: (req) => req.headers["x-tenant"] === undefined ? {} : { tenant: req.headers["x-tenant"] },
})
class Safe extends FrameworkModel {
  @prop()
  tenant?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Note, embedded: true })
  things?: Note[];
  @rest({ methods: SIX })
  @arrayProp({ items: Note })
  held?: Ref<Note>[];
}

async function putSafe({ url }: Client) {
  const held = await getModel(Note).create({ name: "held" });
  const fields = { tenant: "A", things: [{ name: "T" }], held: [held._id] };
  const safe = await getModel(Safe).create(fields as never) as Safe;
  const at = `${url}/safes/${safe._id}`;
  return {
    parts: [[`${at}/things`, String(safe.things?.[0]?._id)], [`${at}/held`, String(held._id)]],
    state: async () => ({
      safe: await getModel(Safe).collection.findOne({ _id: safe._id }),
      things: await getModel(Note).find().lean(),
    }),
  };
}

test("the hooks of the parent's one() guard every operation on its parts", async () => {
  await using app = await mount([Safe]);
  const { parts, state } = await putSafe(app);
  const before = await state();
  for (const [base = "", id = ""] of parts) {
    for (const each of CALLS) {
      for (const guard of ["401", "403", "404", "418"]) {
        const reply = await sender(client(base, { "x-guard": guard }), id)(each);
        assertEquals([base, ...each, String(reply.status)], [base, ...each, guard]);
      }
    }
  }
  assertEquals(await state(), before);
  const body = { code: "UNAUTHENTICATED" };
  const refused = await client(parts[0]?.[0] ?? "", { "x-guard": "401" }).get();
  assertEquals(refused.body, body);
});

test("the scope of the parent binds every operation on its parts", async () => {
  await using app = await mount([Safe]);
  const { parts, state } = await putSafe(app);
  const before = await state();
  for (const [base = "", id = ""] of parts) {
    const send = sender(client(base, { "x-tenant": "B" }), id);
    for (const each of CALLS) {
      const reply = await send(each);
      assertEquals([base, ...each, reply.status], [base, ...each, 404]);
    }
    const mine = await client(base, { "x-tenant": "A" }).get<EntityBody[]>();
    assertEquals([mine.status, mine.body.length], [200, 1]);
  }
  assertEquals(await state(), before);
});

test("the filter of the parent's preFetch binds every operation on its parts", async () => {
  @rest({
    route: "/chests",
    methods: [one({
      preFetch: (req) => {
        req.framework.filter.owner = req.headers["x-user"] ?? "";
        return true;
      },
    })],
  })
  class Chest extends FrameworkModel {
    @prop()
    owner?: string;
    @rest({ methods: SIX })
    @arrayProp({ items: Note, embedded: true })
    things?: Note[];
  }
  await using app = await mount([Chest]);
  const chest = await getModel(Chest).create({ owner: "me", things: [{ name: "T" }] } as never);
  const base = `${app.url}/chests/${(chest as Chest)._id}/things`;
  const id = String((chest as Chest).things?.[0]?._id);
  const [mine, theirs] = ["me", "you"].map((user) => sender(client(base, { "x-user": user }), id));
  for (const each of CALLS) assertEquals((await theirs?.(each))?.status, 404);
  const statuses = [];
  for (const each of CALLS) statuses.push((await mine?.(each))?.status);
  assertEquals(statuses, [200, 200, 201, 200, 204, 204]);
});

test("the parent is 404 where its fetch hook gives nothing, and what it gives is the parent", async () => {
  @rest({
    route: "/vaults",
    methods: [one<Vault>({
      fetch: (req) => req.params.id === "main" ? getModel(Vault).findOne({ name: "main" }) : null,
    })],
  })
  class Vault extends FrameworkModel {
    @prop()
    name?: string;
    @rest({ methods: SIX })
    @arrayProp({ items: Note, embedded: true })
    things?: Note[];
  }
  await using app = await mount([Vault]);
  const [, main] = await getModel(Vault).create([{ name: "other" }, { name: "main" }]);
  const added = await app.post("/vaults/main/things", { name: "T" });
  assertEquals(added.status, 201);
  assertEquals((await getModel(Vault).findById(main?._id))?.things?.[0]?.name, "T");
  const item = `/vaults/main/things/${added.body._id}`;
  assertEquals((await app.get<EntityBody>(item)).body.name, "T");
  assertEquals((await app.get(`/vaults/${main?._id}/things`)).status, 404);
});

test("a scope of any level that is undefined or no object is 500 and touches nothing", async () => {
  const scopes: (() => Record<string, unknown> | Promise<Record<string, unknown>>)[] = [
    () => ({ name: undefined }),
    () => undefined as never,
    () => Promise.resolve("all" as never),
  ];
  for (const scope of scopes) {
    @rest({ route: "/crates", methods: [one()] })
    class Crate extends FrameworkModel {
      static override schemaOptions = { collection: "crates" };
      @rest({ methods: SIX, scope })
      @arrayProp({ items: Note, embedded: true, apart: false })
      things?: Note[];
    }
    await using app = await mount([Crate], { onError: () => new RestError(500, "seen") });
    const crate = await getModel(Crate).create({ things: [{ name: "T" }] } as never) as Crate;
    const base = `${app.url}/crates/${crate._id}/things`;
    const send = sender(client(base), String(crate.things?.[0]?._id));
    for (const each of CALLS) assertEquals((await send(each)).status, 500);
    const after = await getModel(Crate).findById(crate._id);
    assertEquals(after?.things?.map(({ name }) => name), ["T"]);
  }
});
