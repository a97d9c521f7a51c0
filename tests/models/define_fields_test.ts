import { assert, assertEquals } from "@std/assert";
import {
  all,
  create,
  define,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** Whether the compiler of this run defines class fields that have no initializer. */
const DEFINES = Object.hasOwn(
  new (class {
    field?: string;
  })(),
  "field",
);

class Part extends FrameworkModel {
  label?: string;
  size = 9;
  get long(): string {
    return `${this.label}:${this.size}`;
  }
}
define(Part, { fields: { label: {}, size: { type: Number } } });

/** The properties of which the hooks of a request have seen the values. */
const seen: unknown[] = [];

function see(_req: FrameworkRequest, entity: Defined | Declared): Defined | Declared {
  const { name, part, parts } = entity;
  seen.push([name, part?.long, parts?.map((each) => each.long), entity.upper]);
  return entity;
}

const METHODS = [
  all({ preSend: see, lean: true }),
  one({ postFetch: see }),
  create(),
  update({ preSave: see }),
];

/** A class whose fields the runtime defines: each instance has its own property `name`, which is undefined. */
class Defined extends FrameworkModel {
  name?: string;
  part?: Part;
  parts?: Part[];
  get upper(): string {
    return String(this.name).toUpperCase();
  }
}
/** A class whose fields exist in types alone. */
class Declared extends FrameworkModel {
  declare name?: string;
  declare part?: Part;
  declare parts?: Part[];
  get upper(): string {
    return String(this.name).toUpperCase();
  }
}
const FIELDS = {
  name: {},
  part: { type: Part },
  parts: { items: Part, embedded: true },
} as const;
define(Defined, { fields: FIELDS, rest: { route: "/defined", methods: METHODS } });
define(Declared, { fields: FIELDS, rest: { route: "/declared", methods: METHODS } });

test("define() takes class fields that hide nothing, whether the runtime defines them or not", async () => {
  assert(DEFINES);
  assert(Object.hasOwn(new Defined(), "name"));
  assert(!Object.hasOwn(new Declared(), "name"));
  await using app = await mount([Defined, Declared]);
  for (const route of ["/defined", "/declared"]) {
    seen.length = 0;
    const part = { label: "a", size: 1 };
    const { _id } = await app.created(route, { name: "x", part, parts: [part] });
    const shown = await app.updated(`${route}/${_id}`, { name: "y" });
    assertEquals([shown.name, (shown.part as Part).size], ["y", 1]);
    assertEquals((await app.read(`${route}/${_id}`)).name, "y");
    const [listed] = await app.read<Defined[]>(route);
    assertEquals([listed?.name, listed?.part?.label, listed?.parts?.length], ["y", "a", 1]);
    assertEquals(seen, Array(3).fill(["y", "a:1", ["a:1"], "Y"]));
  }
});

test("define() takes the values of fields from documents, and no initializer of the class", async () => {
  await using app = await mount([Defined]);
  const { _id } = await app.created("/defined", { name: "x", part: { label: "a" } });
  const { part } = await app.read<{ part: Part }>(`/defined/${_id}`);
  assertEquals([part.label, part.size], ["a", undefined]);
  await getModel(Defined).collection.updateMany({}, { $unset: { name: "" } });
  assertEquals((await app.read<Defined[]>("/defined")).map(({ name }) => name), [undefined]);
});

test("define() has a fetch hook answer with instances of the class, whose fields the runtime defines", async () => {
  class Fetched extends FrameworkModel {
    name?: string;
    other?: string;
  }
  define(Fetched, {
    fields: { name: {}, other: {} },
    rest: {
      route: "/fetched",
      methods: [
        all({
          fetch: () => [Object.assign(new Fetched(), { name: "a" })],
          preSend: (_req, it) => it,
        }),
        one({ fetch: () => Object.assign(new Fetched(), { name: "b" }) }),
      ],
    },
  });
  await using app = await mount([Fetched]);
  assertEquals(await app.read<unknown>("/fetched"), [{ name: "a" }]);
  assertEquals(await app.read<unknown>(`/fetched/${"0".repeat(24)}`), { name: "b" });
});

// Both forms in one chain of classes

class Decorated extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  shout(): string {
    return `${this.name}!`;
  }
}

class Middle extends Decorated {
  age?: number;
}
define(Middle, {
  extends: Decorated,
  fields: { age: { type: Number, min: 0 } },
  rest: { route: "/middles", methods: [all(), create({ preSend: shouted })] },
});

@rest({ route: "/leaves", methods: [all(), create({ preSend: shouted })] })
class Leaf extends Middle {
  @prop()
  last?: string;
}

class Redeclared extends Leaf {}
define(Redeclared, {
  extends: Leaf,
  fields: { name: { default: "nobody" } },
  rest: { route: "/redeclared", methods: [create({ preSend: shouted })] },
});

function shouted(_req: FrameworkRequest, entity: Middle): object {
  return { shout: entity.shout(), age: entity.age, keys: Object.keys(getFields(entity)) };
}

function getFields(entity: FrameworkModel): object {
  return (entity as unknown as { toObject(): object }).toObject();
}

test("define() inherits from decorated classes, and they from it, fields and methods", async () => {
  await using app = await mount([Middle, Leaf, Redeclared]);
  const middle = await app.created("/middles", { name: "a", age: 5, last: "no field" });
  assertEquals(middle, { shout: "a!", age: 5, keys: ["_id", "name", "age", "__v"] } as never);
  const leaf = await app.created("/leaves", { name: "b", age: "6", last: "c" });
  assertEquals([leaf.shout, leaf.age, (leaf.keys as string[]).includes("last")], ["b!", 6, true]);
  const { body, status } = await app.post("/leaves", { name: "b", age: -1 });
  assertEquals([status, Object.keys(body.errors as object)], [400, ["age"]]);
  assertEquals((await app.post("/middles", {})).status, 400);
  assertEquals((await app.created("/redeclared", {})).shout, "nobody!");
});

// The same declaration in both forms

function decorate() {
  class Piece extends FrameworkModel {
    @prop({ required: true })
    text!: string;
  }
  @rest({ route: "/first", methods: [all({ sort: ["name"] }), one()] })
  @rest({ route: "/second", methods: [one(), create()] })
  class Thing extends FrameworkModel {
    @prop({ required: true, maxLength: 5, description: "A name" })
    name!: string;
    @rest({ methods: [one()] })
    @rest({ route: "/other", methods: [create()] })
    @prop({ type: Piece })
    piece?: Piece;
  }
  return Thing;
}

function defineBoth() {
  class Piece extends FrameworkModel {
    text!: string;
  }
  define(Piece, { fields: { text: { required: true } } });
  class Thing extends FrameworkModel {
    name!: string;
    piece?: Piece;
  }
  define(Thing, {
    fields: {
      name: { required: true, maxLength: 5, description: "A name" },
      piece: {
        type: Piece,
        rest: [{ methods: [one()] }, { route: "/other", methods: [create()] }],
      },
    },
    rest: [
      { route: "/first", methods: [all({ sort: ["name"] }), one()] },
      { route: "/second", methods: [one(), create()] },
    ],
  });
  return Thing;
}

Deno.test("define() makes the routes, in their order, that decorators make", () => {
  const [first, second] = [decorate(), defineBoth()].map((each) =>
    Framework.describe({ models: [each] })
  );
  assertEquals(first, second);
  assertEquals(first?.length, 8);
});
