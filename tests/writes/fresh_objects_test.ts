import { assert, assertEquals } from "@std/assert";
import type { Document, Schema } from "mongoose";
import { arrayProp, FrameworkModel, getModel, prop, rest, update } from "../../mod.ts";
import type { FrameworkRequest, HooksOf, ModelClass } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { fetching, gate, race } from "../support/race.ts";
import { mount } from "../support/support.ts";

class Place extends FrameworkModel {
  @prop({ required: true })
  city!: string;
  @prop({ default: "AT" })
  country?: string;
  @prop()
  street?: string;
  @arrayProp({ items: String })
  tags?: string[];
}

class Address extends Place {
  @prop({ type: Place })
  second?: Place;
}

class Person extends FrameworkModel {
  @prop({ type: Address })
  address?: Address;
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: Map, of: Place })
  places?: Map<string, Place>;
  @prop({ type: Place })
  shown?: Place;

  static override configure(schema: Schema): void {
    schema.path("shown").default(() => ({ city: "shown" }));
  }
}

function made(hooks: HooksOf<Person>): ModelClass<Person> {
  const schemaOptions = { collection: `people_${crypto.randomUUID().slice(0, 8)}` };
  @rest({ route: "/raced", methods: [update<Person>(hooks)], schemaOptions })
  class Made extends Person {
    static override configure(schema: Schema): void {
      Person.configure(schema);
    }
  }
  return Made;
}

/** What is stored before, two patches, and what of both is stored after them. */
const CASES: [before: object, patches: [object, object], after: object][] = [
  [{}, [{ free: { a: 1 } }, { free: { b: 2 } }], { free: { a: 1, b: 2 } }],
  [{ free: null }, [{ free: { a: { c: 1 } } }, { free: { a: { d: 2 } } }], {
    free: { a: { c: 1, d: 2 } },
  }],
  [{ free: { a: 5 } }, [{ free: { a: { c: 1 } } }, { free: { a: { d: 2 } } }], {
    free: { a: { c: 1, d: 2 } },
  }],
  [{}, [{ counts: { 1: 1 } }, { counts: { 2: 2 } }], { counts: { 1: 1, 2: 2 } }],
  [{ counts: null }, [{ counts: { a: 1 } }, { counts: { b: 2 } }], { counts: { a: 1, b: 2 } }],
];

test("update() is a 409 to one of two that put an object where none is, and merges when repeated", async () => {
  for (const fetches of [false, true]) {
    for (const [before, patches, after] of CASES) {
      const model: ModelClass<Person> = made({
        ...fetches && fetching(() => model),
        preSave: gate(2),
      });
      await using app = await mount([model]);
      const raced = { stored: before, patches, repeats: true };
      const { statuses, left, replies } = await race(app, model, raced);
      assertEquals(statuses.toSorted(), [200, 409], JSON.stringify(before));
      assertEquals(replies.map(({ status }) => status), [200, 200]);
      const [key = ""] = Object.keys(after);
      assertEquals({ [key]: left[key], __v: left.__v }, { ...after, __v: 2 } as unknown);
      const last = replies.find(({ body }) => body.__v === 2);
      assertEquals(last?.body[key], left[key]);
    }
  }
});

test("update() creates an embedded object once, whose defaults undo no other request", async () => {
  for (const before of [{}, { address: null }, { address: null, places: null }]) {
    const model = made({ preSave: gate(3) });
    await using app = await mount([model]);
    const { statuses, left, replies } = await race(app, model, {
      stored: before,
      repeats: true,
      patches: [
        {
          address: { city: "W", street: "s", second: { city: "W2" } },
          places: { a: { city: "a" } },
        },
        { address: { city: "W", country: "DE", second: { city: "W2", street: "s2" } } },
        { address: { city: "W" }, places: { a: { city: "a", country: "CH" }, b: { city: "b" } } },
      ],
    });
    assertEquals(statuses.toSorted(), [200, 409, 409]);
    const { address, places } = left as unknown as {
      address: Address;
      places: Record<string, Place>;
    };
    assertEquals([address.street, address.country], ["s", "DE"]);
    assertEquals([address.second?.city, address.second?.street], ["W2", "s2"]);
    assertEquals([places.a?.country, places.b?.country], ["CH", "AT"]);
    const shown = replies.map(({ body }) => (body.address as Address)._id);
    assertEquals(new Set(shown), new Set([String(address._id)]) as never);
  }
});

test("update() validates an object that it creates", async () => {
  const model = made({ preSave: gate(2) });
  await using app = await mount([model]);
  const bad = { address: { street: "s" } };
  const { statuses, left } = await race(app, model, { stored: {}, patches: [bad, bad] });
  assertEquals([statuses, "address" in left], [[400, 400], false]);
});

test("update() lets two arrays clash in an object that two requests create", async () => {
  const model = made({ preSave: gate(2) });
  await using app = await mount([model]);
  const tags = (tag: string) => ({ address: { city: "c", tags: [tag] } });
  const { statuses, left } = await race(app, model, {
    stored: {},
    patches: [tags("a"), tags("b")],
  });
  assertEquals(statuses.toSorted(), [200, 409]);
  assertEquals([left.__v, (left.address as Address).tags?.length], [1, 1]);
});

test("update() creates an object that is only shown as a default once", async () => {
  const model = made({ preSave: gate(2) });
  await using app = await mount([model]);
  const patches = [{ shown: { street: "s" } }, { shown: { country: "DE" } }];
  const { statuses, left } = await race(app, model, { stored: {}, patches, repeats: true });
  assertEquals(statuses.toSorted(), [200, 409]);
  const { city, street, country } = left.shown as Place;
  assertEquals([city, street, country], ["shown", "s", "DE"]);
});

test("update() keeps what a hook puts into an object that it creates or replaces", async () => {
  const pass = gate(2);
  const model = made({
    async preSave(req: FrameworkRequest<Person>, entity) {
      const doc = await pass(req, entity) as unknown as Document;
      doc.set("address.street", `s${req.body.address.city}`);
      if (req.body.free) doc.set("free", { replaced: true });
      return entity;
    },
  });
  await using app = await mount([model]);
  const patches = [{ address: { city: "a" }, free: { a: 1 } }, { address: { city: "b" } }];
  const raced = { stored: { free: { old: 1 } }, patches, repeats: true };
  const { statuses, left } = await race(app, model, raced);
  assertEquals(statuses.toSorted(), [200, 409]);
  const { city, street } = left.address as Address;
  assertEquals([street, left.free], [`s${city}`, { replaced: true }]);
});

test("update() answers 409 when an object that it merges into was cleared meanwhile", async () => {
  const model: ModelClass<Person> = made({
    async preSave(_req, entity) {
      const clear = { $set: { address: null } };
      await getModel(model).collection.updateOne({ _id: entity._id } as never, clear as never);
      return entity;
    },
  });
  await using app = await mount([model]);
  const before = { address: { city: "a" } };
  const { statuses, left } = await race(app, model, {
    stored: before,
    patches: [{ address: { city: "b" } }],
  });
  assertEquals([statuses, left.address], [[409], null]);
  assert(left.__v === 0);
});

test("update() is a 409 for an array in an object that another request has just created", async () => {
  for (const before of [{}, { address: null }]) {
    const created = Promise.withResolvers<void>();
    const pass = gate(2);
    const model = made({
      async preSave(req, entity) {
        const passed = await pass(req, entity);
        if (req.body.address.tags !== undefined) await created.promise;
        return passed;
      },
      preSend(_req, entity) {
        created.resolve();
        return entity;
      },
    });
    await using app = await mount([model]);
    const patches = [{ address: { city: "Wien" } }, { address: { city: "Wien", tags: ["a"] } }];
    const { statuses, left } = await race(app, model, { stored: before, patches, repeats: true });
    assertEquals(statuses, [200, 409]);
    const { tags } = left.address as Address;
    assertEquals(tags, ["a"]);
  }
});
