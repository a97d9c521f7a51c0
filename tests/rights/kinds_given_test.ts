import mongoose from "mongoose";
import { assert, assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const OWN = {
  seen: String,
  chip: { type: String, hidden: true },
  sub: new mongoose.Schema({ text: String, kept: { type: String, hidden: true } } as never),
};

class Part extends FrameworkModel {
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    schema.discriminator("Gear", new mongoose.Schema(OWN as never));
  }
}

@rest({
  route: "/given",
  methods: [
    all({ fetch: () => getModel(Pet).collection.find() as never }),
    one({ fetch: () => getModel(Pet).findOne().lean() as never }),
  ],
})
@rest({ route: "/copied", methods: [all({ preSend: (_req, pet) => ({ pet, copy: { ...pet } }) })] })
class Pet extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: Part, embedded: true })
  parts!: Part[];

  static override configure(schema: mongoose.Schema): void {
    schema.discriminator(`Dog${crypto.randomUUID()}`, new mongoose.Schema(OWN as never), {
      value: "Dog",
    });
  }
}

test("objects that hooks give show nothing that a kind hides", async () => {
  await using app = await mount([Pet]);
  const own = { seen: "yes", chip: "SECRET", sub: { text: "yes", kept: "SECRET" } };
  const parts = [{ __t: "Gear", name: "p", ...own }];
  const pet = { __t: "Dog", name: "a", ...own, parts, added: "yes" };
  const { insertedId } = await getModel(Pet).collection.insertOne(pet as never);
  for (const path of ["/given", `/given/${insertedId}`, "/copied"]) {
    const { status, text } = await app.get(path);
    assertEquals([status, text.includes("SECRET")], [200, false], text);
    assert(text.includes('"seen":"yes"') && text.includes('"text":"yes"'), text);
  }
  const { text } = await app.get("/given");
  assert(text.includes('"added":"yes"'), text);
});

const UNSELECTED = { kept: { type: String, select: false } };

/** Returns why a class whose kind has these fields does not start, as a root or inside of another class. */
async function startFailure(own: object, { embedded }: { embedded: boolean }): Promise<string> {
  class Base extends FrameworkModel {
    @prop()
    name?: string;

    static override configure(schema: mongoose.Schema): void {
      schema.discriminator(`Dog${crypto.randomUUID()}`, new mongoose.Schema(own as never));
    }
  }
  @rest({ route: "/roots", methods: [all()] })
  class Root extends Base {}
  class Outer extends FrameworkModel {
    @arrayProp({ items: Base, embedded: true })
    list!: Base[];
  }
  @rest({ route: "/outers", methods: [all()] })
  class Around extends Outer {}
  try {
    await using _app = await mount([embedded ? Around : Root]);
    return "started";
  } catch (error) {
    return String(error);
  }
}

test('"select: false" of a kind fails the start where Mongoose does not see it', async () => {
  const inner = { sub: new mongoose.Schema(UNSELECTED as never) };
  const inners = { list: [new mongoose.Schema(UNSELECTED as never)] };
  for (
    const [own, embedded] of [[inner, false], [inners, false], [UNSELECTED, true], [
      inner,
      true,
    ]] as const
  ) {
    const failure = await startFailure(own, { embedded });
    assert(failure.includes('kept" of the kind "Dog') && failure.includes('use "hidden"'), failure);
  }
  assertEquals(await startFailure(UNSELECTED, { embedded: false }), "started");
});
