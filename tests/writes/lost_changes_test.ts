import { assert, assertEquals } from "@std/assert";
import { arrayProp, FrameworkModel, type FrameworkRequest, getModel, prop } from "../../mod.ts";
import { type HooksOf, type ModelClass, rest, update } from "../../mod.ts";
import { longTest, test } from "../harness/testing.ts";
import { fetching } from "../support/race.ts";
import { mount } from "../support/support.ts";

const CLIENTS = 64;

class Inner extends FrameworkModel {
  @prop({ default: "shown" })
  state?: string;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
}

class Shared extends FrameworkModel {
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ type: Inner })
  inner?: Inner;
}

/** Who reads the entity, and what tells its versions. */
const WAYS: readonly [fetches: boolean, versionKey: string | false][] = [
  [false, "__v"],
  [true, "__v"],
  [false, false],
  [true, false],
];

function made(hooks: HooksOf<Shared>, versionKey: string | false): ModelClass<Shared> {
  const collection = `shared_${crypto.randomUUID().slice(0, 8)}`;
  const schemaOptions = { collection, versionKey } as never;
  @rest({ route: "/shared", methods: [update<Shared>(hooks)], schemaOptions })
  class Made extends Shared {}
  return Made;
}

/** Has all clients change one entity at once, each until it gets another answer than 409. */
async function changeAtOnce(
  model: ModelClass<Shared>,
  stored: object,
  bodyOf: (client: number) => object,
) {
  await using app = await mount([model]);
  const { collection } = getModel(model);
  const { insertedId: _id } = await collection.insertOne(stored as never);
  let refused = 0;
  await Promise.all(Array.from({ length: CLIENTS }, async (_, each) => {
    for (;;) {
      const { status, text } = await app.patch(`/shared/${_id}`, bodyOf(each));
      if (status === 200) return;
      assertEquals(status, 409, text);
      refused++;
    }
  }));
  const left = await collection.findOne({ _id }) as unknown as Shared & { readonly __v?: number };
  return { left, refused };
}

const NAMES = Array.from({ length: CLIENTS }, (_, each) => `c${each}`);
const EVERY = Object.fromEntries(NAMES.map((name, each) => [name, each]));

for (const [fetches, versionKey] of WAYS) {
  const way = `${fetches ? "a fetch hook" : "the framework"} and the version ${versionKey}`;
  const hooks = (): HooksOf<Shared> => fetches ? fetching(() => model) as never : {};
  let model: ModelClass<Shared>;

  test(`of 64 that change different fields at once none is refused, with ${way}`, async () => {
    model = made({ ...hooks(), preSave: (_req, entity) => entity }, versionKey);
    const stored = { __v: 0, counts: {}, free: {}, inner: { counts: {} } };
    const { left, refused } = await changeAtOnce(model, stored, (each) => {
      const change = { [`c${each}`]: each };
      return each % 2 === 0 ? { counts: change, free: change } : { inner: { counts: change } };
    });
    const even = Object.entries(EVERY).filter(([, each]) => each % 2 === 0);
    const odd = Object.entries(EVERY).filter(([, each]) => each % 2 === 1);
    assertEquals([left.counts as unknown, left.free], [
      Object.fromEntries(even),
      Object.fromEntries(even),
    ]);
    assertEquals(left.inner?.counts as unknown, Object.fromEntries(odd));
    assertEquals([refused, left.__v], [0, versionKey === false ? 0 : CLIENTS]);
  });

  longTest(`of 64 that create one object at once no change is lost, with ${way}`, async () => {
    model = made(hooks(), versionKey);
    const stored = { __v: 0, free: null };
    const { left } = await changeAtOnce(model, stored, (each) => {
      const change = { [`c${each}`]: each };
      return { counts: change, free: change, inner: { counts: change } };
    });
    assertEquals([left.counts as unknown, left.free], [EVERY, EVERY]);
    assertEquals([left.inner?.counts as unknown, left.inner?.state], [EVERY, "shown"]);
    assertEquals(left.__v, versionKey === false ? 0 : CLIENTS);
  });

  longTest(
    `of 64 that add to one array in a hook at once no change is lost, with ${way}`,
    async () => {
      model = made({
        ...hooks(),
        preSave(req: FrameworkRequest<Shared>, entity) {
          const { name } = req.body.free as { name: string };
          entity.tags = [...entity.tags ?? [], name];
          return entity;
        },
      }, versionKey);
      const { left, refused } = await changeAtOnce(model, { __v: 0 }, (each) => {
        return { free: { name: `c${each}` } };
      });
      assertEquals(left.tags?.toSorted(), NAMES.toSorted());
      assert(refused > 0);
    },
  );
}
