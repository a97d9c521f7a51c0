import { assertEquals } from "@std/assert";
import {
  all,
  create,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  type ReadOnly,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { of } from "./companies.ts";

const CASELESS = { locale: "en", strength: 2 } as const;

function ignoreCase({ framework }: FrameworkRequest): boolean {
  framework.options.collation = CASELESS;
  return true;
}

const preFetch = ignoreCase;

abstract class Owned extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly company!: ReadOnly<string>;
  @prop({ required: true })
  name!: string;
}

@rest({
  route: "/hooked",
  methods: [
    all({ page: { max: 2 }, count: { always: true }, distinct: ["name"], preFetch }),
    one({ preFetch }),
    create({ preFetch }),
    update({ preFetch }),
    replace({ preFetch }),
    remove({ preFetch }),
    removeAll({ preFetch }),
  ],
  tenant: "company",
})
class Hooked extends Owned {}

@rest({
  route: "/collated",
  methods: [
    all({ page: { max: 2 }, count: { always: true }, distinct: ["name"] }),
    one(),
    create(),
    update(),
    replace(),
    remove(),
    removeAll(),
  ],
  tenant: "company",
})
class Collated extends Owned {
  static override schemaOptions = { collation: CASELESS };
}

@rest({
  route: "/referring",
  methods: [all({ populate: { to: true }, filter: ["to.name"] }), create()],
  tenant: false,
})
class Referring extends FrameworkModel {
  @prop({ ref: Collated })
  to?: Ref<Collated>;
}

/** Two tenants that a collation without case takes for one. The dot must not match every character. */
const [UPPER, LOWER] = [of("A.B"), of("a.b")];

test("a collation does not open the entities of a tenant that differs in case", async (t) => {
  await using app = await mount([Hooked, Collated, Referring], {
    tenant: (req) => req.headers["x-company"] as string,
  });
  for (const route of ["/hooked", "/collated"]) {
    await t.step(route, async () => {
      const { _id } = await app.created(route, { name: "upper" }, UPPER);
      const mine = await app.created(route, { name: "lower" }, LOWER);
      const { body, headers } = await app.get(route, LOWER);
      assertEquals([body, headers.get("x-total-count")], [[mine], "1"]);
      const read = (query: string, sender: typeof LOWER) =>
        app.read<unknown[]>(`${route}${query}`, sender);
      assertEquals(await read("?distinct=name", LOWER), ["lower"]);
      assertEquals(await read("", of("axb")), []);
      const path = `${route}/${_id}`;
      assertEquals((await app.get(path, LOWER)).status, 404);
      assertEquals((await app.patch(path, { name: "x" }, LOWER)).status, 404);
      assertEquals((await app.put(path, { name: "x" }, LOWER)).status, 404);
      assertEquals((await app.delete(path, LOWER)).status, 404);
      assertEquals((await app.put(path, { name: "new" }, UPPER)).status, 200);
      const added = `${route}/${"5".repeat(24)}`;
      assertEquals((await app.put(added, { name: "added" }, UPPER)).status, 201);
      assertEquals((await app.delete(`${route}?q={}`, LOWER)).status, 204);
      assertEquals(await read("?distinct=name", UPPER), ["added", "new"]);
    });
  }
});

test("a reference to a class with a collation shows nothing of a tenant that differs in case", async () => {
  await using app = await mount([Collated, Referring], {
    tenant: (req) => req.headers["x-company"] as string,
  });
  const { _id } = await app.created("/collated", { name: "upper" }, UPPER);
  await app.created("/referring", { to: _id });
  const shown = async (sender: typeof UPPER) => {
    const [{ to = undefined } = {}] = await app.read<{ to?: unknown }[]>(
      "/referring?populate=to",
      sender,
    );
    const found = await app.read<unknown[]>(
      `/referring?q=${encodeURIComponent('{"to.name":"upper"}')}`,
      sender,
    );
    return [Object(to).name, found.length];
  };
  assertEquals([await shown(UPPER), await shown(LOWER)], [["upper", 1], [undefined, 0]]);
});
