import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  onlyIf,
  prop,
  rest,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asDocuments } from "../support/both_paths.ts";
import { mount } from "../support/support.ts";

const isPublic = onlyIf(
  ["secret", "aside"],
  (_req: FrameworkRequest, { secret, aside }: Pick<Note, "secret" | "aside">) =>
    secret !== true && aside !== true,
);

const PROJECTIONS: unknown[] = [
  "text",
  "-secret",
  { text: 1 },
  { secret: 0, text: 1 },
  { _id: 1 },
  { secret: 0, _id: 1 },
  { secret: 0, aside: 0, _id: 1 },
  { _id: 1, open: 0 },
  { secret: "$open", text: 1 },
  { text: 1, secret: { $literal: false } },
  "+aside",
];

let projection: unknown;

const project = (isWhole: boolean) => (req: FrameworkRequest) => {
  req.framework.projection = projection as never;
  return isWhole ? asDocuments(req) : true;
};

const read = (isWhole: boolean, lean: boolean) => {
  const given = { preFetch: project(isWhole), postFetch: isPublic, lean };
  return [all(given), one(given)];
};

@rest({ route: "/bytes", methods: read(false, false) })
@rest({ route: "/documents", methods: read(true, false) })
@rest({ route: "/lean", methods: read(false, true) })
class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Boolean })
  secret?: boolean;
  @prop({ type: Boolean, select: false })
  aside?: boolean;
  @prop({ default: false })
  open!: boolean;
}

async function store(note: object): Promise<string> {
  const { insertedId } = await getModel(Note).collection.insertOne({ text: "t", __v: 0, ...note });
  return String(insertedId);
}

test("a test with names gets the stored values of fields that a projection leaves out", async (t) => {
  await using app = await mount([Note]);
  const ids = [await store({ secret: true }), await store({ aside: true })];
  for (projection of PROJECTIONS) {
    for (const route of ["/bytes", "/documents", "/lean"]) {
      await t.step(`${route} ${JSON.stringify(projection)}`, async () => {
        const { status, body, text } = await app.get(route);
        if (status !== 500) assertEquals(body, [], text);
        for (const id of ids) {
          const one = await app.get(`${route}/${id}`);
          assertEquals([404, 500].includes(one.status), true, one.text);
        }
      });
    }
  }
});

test("a projection without _id reveals no entity that a test with names rejects", async () => {
  await using app = await mount([Note]);
  await store({ secret: true });
  projection = { _id: 0, secret: 0 };
  assertEquals((await app.get("/bytes")).text, "[]");
  for (const route of ["/documents", "/lean"]) assertEquals((await app.get(route)).status, 500);
});

const isNotAside = onlyIf(
  ["aside"],
  (_req: FrameworkRequest, { aside }: Pick<Vanishing, "aside">) => aside !== true,
);

@rest({ route: "/vanishing", methods: [all({ postFetch: isNotAside })] })
class Vanishing extends FrameworkModel {
  @prop({ type: Boolean, select: false })
  aside?: boolean;

  static override configure(schema: Schema): void {
    // Removes what was found before the field is read.
    schema.post("find", async function () {
      await this.model.collection.deleteMany({});
    });
  }
}

test("a test with names gets no entity that is gone before its fields are read", async () => {
  await using app = await mount([Vanishing]);
  await getModel(Vanishing).create({ aside: true });
  assertEquals((await app.get("/vanishing")).text, "[]");
  assertEquals(await getModel(Vanishing).collection.countDocuments(), 0);
});
