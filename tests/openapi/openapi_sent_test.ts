import { assert, assertEquals } from "@std/assert";
import { all, arrayProp, create, FrameworkModel, one, prop, type Ref, rest } from "../../mod.ts";
import { mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";

class Part extends FrameworkModel {
  @prop({ required: true })
  a!: string;
  @prop()
  b?: string;
}

class Revision extends FrameworkModel {
  @prop({ required: true })
  text!: string | null;
}

@rest({
  route: "/sents",
  methods: [
    create({ preSend: (_req, { _id }) => ({ _id, part: { b: "2" }, map: { x: null } }) }),
    all({
      postFetch: (_req, sent) => {
        for (const revision of sent.revisions ?? []) revision.text = null;
        return sent;
      },
    }),
    one(),
  ],
})
class Sent extends FrameworkModel {
  @prop({ type: Part })
  part?: Part;
  @prop({ type: Map, of: String })
  map?: Map<string, string>;
  @arrayProp({ items: Revision, embedded: true })
  revisions?: Revision[];
}

test("what hooks change in embedded objects is as the document says", async () => {
  await using app = await mountDocumented([Sent]);
  const body = { part: { a: "1", b: "2" }, map: { x: "y" }, revisions: [{ text: "t" }] };
  const made = await app.created("/sents", body);
  assertEquals(made.part, { b: "2" });
  const isMade = app.validator(app.answer("POST", "/sents", 201));
  assert(isMade(made), JSON.stringify(isMade.errors));
  const list = await app.read<{ revisions: { text: unknown }[] }[]>("/sents");
  assertEquals(list[0]?.revisions[0]?.text, null);
  const isList = app.validator(app.answer("GET", "/sents"));
  assert(isList(list), JSON.stringify(isList.errors));
  assertEquals(app.answer("GET", "/sents/{id}"), { $ref: "#/components/schemas/Sent" });
  assertEquals(app.schemas.Part?.required, ["_id", "a"]);
});

@rest({
  route: "/cuts",
  methods: [all({ populate: { other: true } }), create()],
  schemaOptions: {
    toJSON: {
      transform: (_doc: unknown, { title: _, ...json }: Record<string, unknown>) => json,
    },
  },
})
class Cut extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ ref: () => Cut })
  other?: Ref<Cut>;
}

test("what a transform of toJSON leaves out is not required", async () => {
  await using app = await mountDocumented([Cut]);
  const made = await app.created("/cuts", { title: "t" });
  assertEquals("title" in made, false);
  const isMade = app.validator(app.answer("POST", "/cuts", 201));
  assert(isMade(made), JSON.stringify(isMade.errors));
  await app.created("/cuts", { title: "u", other: made._id });
  const list = await app.read("/cuts?populate=other");
  const isList = app.validator(app.answer("GET", "/cuts"));
  assert(isList(list), JSON.stringify(isList.errors));
});
