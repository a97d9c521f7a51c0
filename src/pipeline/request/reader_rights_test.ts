import { assert, assertEquals } from "@std/assert";
import { FrameworkModel, type FrameworkRequest, prop } from "../../../mod.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { shapeForAll } from "../../schema/fields/shape.ts";
import { FeatureList } from "../feature_list.ts";
import { DeclaredOptions } from "../declared_options.ts";
import { MAX_CACHED, rightsOf, type RouteRights } from "./reader_rights.ts";
import type { Level } from "./route.ts";

/** Returns a function of a field that reads one bit of the header that names the reader. */
function hiddenBy(bit: number) {
  return ({ headers }: FrameworkRequest) => (Number(headers["x-reader"]) >> bit & 1) === 1;
}

class Noted extends FrameworkModel {
  @prop({ hidden: hiddenBy(0) })
  a?: string;
  @prop({ hidden: hiddenBy(1) })
  b?: string;
}
for (let bit = 2; bit < 10; bit++) {
  prop({ hidden: hiddenBy(bit) })(undefined, {
    kind: "field",
    name: `f${bit}`,
    static: false,
    private: false,
    metadata: Noted[Symbol.metadata] as object,
  } as never);
}

function makeRights(): RouteRights {
  const { schema } = buildSchema(Noted);
  const shape = shapeForAll(schema);
  const place = { target: Noted, schema, shape, link: undefined, fail: TypeError };
  const method = { operation: "one", hooks: {} };
  const declared = new DeclaredOptions(new FeatureList([]), { method, place: place as never });
  const level = { target: Noted, shape, options: declared.under(shape) };
  return rightsOf([level as unknown as Level]) as RouteRights;
}

function levelFor(rights: RouteRights, reader: number): Level {
  const [level] = rights({ headers: { "x-reader": `${reader}` } } as never);
  return level as Level;
}

Deno.test("rightsOf() keeps what it has made for 256 kinds of readers", () => {
  const rights = makeRights();
  const readers = Array.from({ length: 256 }, (_, reader) => reader);
  const first = readers.map((reader) => levelFor(rights, reader));
  for (const reader of readers) assert(levelFor(rights, reader) === first[reader]);
  const { fields } = (first[2] as Level).shape;
  assertEquals([fields.get("a")?.hidden, fields.get("b")?.hidden], [false, true]);
});

Deno.test("rightsOf() shares the shapes of a reader between routes", () => {
  const [list, one] = [levelFor(makeRights(), 5), levelFor(makeRights(), 5)];
  assert(list !== one && list.shape === one.shape);
});

Deno.test("rightsOf() forgets the readers that have not come for longest", () => {
  const rights = makeRights();
  const [first, second] = [levelFor(rights, 0), levelFor(rights, 1)];
  for (let reader = 2; reader < MAX_CACHED; reader++) levelFor(rights, reader);
  assert(levelFor(rights, 0) === first);
  levelFor(rights, MAX_CACHED);
  assert(levelFor(rights, 0) === first);
  assert(levelFor(rights, 1) !== second);
});
