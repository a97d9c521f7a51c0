import { assertEquals } from "@std/assert";
import type { Query, Schema } from "mongoose";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type QueryObject,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";

type Values = Readonly<Record<"name" | "owner" | "state", string>>;

/** The conditions of the scope, of the middleware and of the client, each with its meaning. */
interface Case {
  readonly scope: QueryObject;
  readonly where: object;
  readonly q: object;
  readonly isShown: (values: Values) => boolean;
}

const CASES: readonly Case[] = [
  {
    scope: { owner: "ann" },
    where: { owner: { $ne: "nobody" } },
    q: { owner: { $ne: "eve" } },
    isShown: ({ owner }) => owner === "ann",
  },
  {
    scope: { $or: [{ owner: "ann" }, { state: "public" }] },
    where: { $or: [{ state: "on" }, { state: "public" }] },
    q: { $or: [{ state: "off" }, { owner: "bob" }, { owner: "ann" }] },
    isShown: ({ owner, state }) => state === "public" || owner === "ann" && state === "on",
  },
  {
    scope: {},
    where: { $or: [{ state: "on" }, { state: "public" }] },
    q: { $or: [{ state: "off" }, { name: "bob on" }] },
    isShown: ({ state }) => state !== "off",
  },
  {
    scope: { $nor: [{ owner: "bob" }] },
    where: { $nor: [{ state: "off" }] },
    q: { $nor: [{ state: "public" }] },
    isShown: ({ owner, state }) => owner !== "bob" && state !== "off",
  },
];

const ENTITIES: readonly Values[] = ["ann", "bob"].flatMap((owner) =>
  ["on", "off", "public"].map((state) => ({ name: `${owner} ${state}`, owner, state }))
);

const isAsked: Readonly<Record<number, (values: Values) => boolean>> = {
  0: () => true,
  1: () => true,
  2: ({ name, state }) => state === "off" || name === "bob on",
  3: ({ state }) => state !== "public",
};

function classOf({ scope, where }: Case) {
  @rest({
    route: "/gated",
    scope: (_req: FrameworkRequest) => scope,
    methods: [all({ count: {} }), one(), update(), removeAll()],
  })
  class Gated extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.pre(/^find/, function (this: Query<unknown, unknown>) {
        this.where(where);
      });
    }
    @prop()
    name?: string;
    @prop()
    owner?: string;
    @prop()
    state?: string;
  }
  return Gated;
}

for (const [index, each] of CASES.entries()) {
  const words = JSON.stringify(each.where);
  test(`middleware of find() narrows a scope and q, and replaces neither: ${words}`, async () => {
    const Gated = classOf(each);
    await using app = await mount([Gated]);
    const { collection } = getModel(Gated);
    const { insertedIds } = await collection.insertMany(ENTITIES.map((one) => ({ ...one })));
    const shown = ENTITIES.filter(each.isShown).map(({ name }) => name);
    const asked = ENTITIES.filter((one) => each.isShown(one) && isAsked[index]?.(one))
      .map(({ name }) => name);
    const names = async (path: string) => {
      const reply = await app.get<Values[]>(path, { headers: { prefer: "count=exact" } });
      assertEquals(reply.headers.get("x-total-count"), `${reply.body.length}`);
      return reply.body.map(({ name }) => name);
    };
    assertEquals(await names("/gated"), shown);
    const q = asQuery(each.q);
    assertEquals(await names(`/gated${q}`), asked);
    for (const [at, { name }] of ENTITIES.entries()) {
      const path = `/gated/${insertedIds[at]}`;
      const status = shown.includes(name) ? 200 : 404;
      assertEquals([name, (await app.get(path)).status], [name, status]);
      assertEquals([name, (await app.patch(path, { name })).status], [name, status]);
    }
    assertEquals((await app.delete(`/gated${q}`)).status, 204);
    const left = (await collection.find().toArray()).map(({ name }) => name);
    assertEquals(left, ENTITIES.map(({ name }) => name).filter((name) => !asked.includes(name)));
  });
}
