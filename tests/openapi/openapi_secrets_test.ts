import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import { documentOf } from "../support/documented.ts";
import { test } from "../harness/testing.ts";

class Inner extends FrameworkModel {
  @prop({ required: true })
  shown!: string;
  @prop({ hidden: true, default: "DEFAULT_INNER", example: "BODY_INNER" })
  code?: string;
}

@rest({ route: "/safes", methods: [all(), one(), create(), update()] })
class Safe extends FrameworkModel {
  @prop({ default: "PLAIN", example: "EXAMPLE_PLAIN" })
  plain?: string;
  @prop({ hidden: true, default: "DEFAULT_HIDDEN", example: "BODY_HIDDEN" })
  hidden?: string;
  @prop({ select: false, default: "DEFAULT_UNSELECTED", example: "BODY_UNSELECTED" })
  unselected?: string;
  @prop({ hidden: true, enum: ["BODY_ENUM", "DEFAULT_ENUM"] as const })
  listed?: "BODY_ENUM" | "DEFAULT_ENUM";
  @prop({
    type: Inner,
    default: { shown: "s", code: "DEFAULT_NESTED" } as never,
    example: { shown: "s", code: "BODY_NESTED" },
  })
  inner?: Inner;
  @prop({ type: Object, hidden: true, default: { deep: "DEFAULT_FREE" } })
  free?: object;
  @arrayProp({
    items: Inner,
    embedded: true,
    example: [{ shown: "s", code: "BODY_ELEMENT" }],
  })
  inners?: Inner[];
}

/** The marker texts in what is described. */
const markersIn = (described: unknown) =>
  [...new Set(JSON.stringify(described).match(/\b(DEFAULT|BODY|EXAMPLE|PLAIN)\w*/g))].sort();

/** The enumerated values of a body may be those of a default. */
const IN_BODIES = [
  ...["BODY_ELEMENT", "BODY_ENUM", "BODY_HIDDEN", "BODY_INNER", "BODY_NESTED", "BODY_UNSELECTED"],
  ...["DEFAULT_ENUM", "EXAMPLE_PLAIN", "PLAIN"],
];

test("openapi() tells no default of a hidden field, and no example of one in answers", async () => {
  const { document, schemas } = await documentOf([Safe]);
  assertEquals(markersIn(document), IN_BODIES);
  const { SafeNew: _new, SafePatch: _patch, InnerNew: _innerNew, ...others } = schemas;
  const { InnerPatch: _innerPatch, InnerElement: _element, ...answers } = others;
  assertEquals(markersIn(answers), ["EXAMPLE_PLAIN"]);
  assertEquals(markersIn(schemas.SafePatch).includes("PLAIN"), false);
});

test("describe() tells no default of a hidden field, and no example of one in answers", () => {
  const routes = Framework.describe({ models: [Safe] });
  assertEquals(markersIn(routes), IN_BODIES);
  const answers = routes.map(({ answer, filter, parameters }) => [answer, filter, parameters]);
  assertEquals(markersIn(answers), ["EXAMPLE_PLAIN"]);
});

/** Initializes a class with an example of a list, and gives the error. */
function refused(example: object): string {
  @rest({ route: "/kept", methods: [create({ example: { hidden: "h" } }), all({ example })] })
  class Kept extends FrameworkModel {
    @prop()
    text?: string;
    @prop({ hidden: true })
    hidden?: string;
    @prop({ select: false })
    unselected?: string;
    @prop({ type: Inner })
    inner?: Inner;
    @arrayProp({ items: Inner, embedded: true })
    inners?: Inner[];
    @prop({ type: Map, of: Inner })
    map?: Map<string, Inner>;
    @prop({ ref: () => Kept })
    other?: Ref<Kept>;
  }
  return assertThrows(() => Framework.initialize({ models: [Kept] }), TypeError).message;
}

test("initialize() refuses an example of an answer that shows what answers leave out", () => {
  const cases: [object, string][] = [
    [{ text: "t", hidden: "h" }, "hidden"],
    [{ unselected: null }, "unselected"],
    [{ inner: { code: 1 } }, "inner.code"],
    [{ inners: [{ shown: "s" }, { code: 1 }] }, "inners.1.code"],
    [{ map: { hidden: { code: 1 } } }, "map.hidden.code"],
    [{ other: { hidden: 1 } }, "other.hidden"],
  ];
  for (const [example, path] of cases) {
    assertEquals(
      refused(example),
      `Cannot mount "Kept": all() has "example" with "${path}", which no answer shows`,
    );
  }
});

test("initialize() refuses a list as the example of an operation", () => {
  for (const example of [[], [{ text: "t" }]]) {
    assertEquals(
      refused(example),
      'Cannot mount "Kept": all() has "example", which is not an object of JSON',
    );
  }
});
