import { assertEquals } from "@std/assert";
import { arrayProp, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { gate } from "../support/race.ts";
import { type EntityBody, mount } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  city?: string;
  @prop({ default: "AT" })
  country?: string;
}

class Part extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Object })
  free?: object;
  @arrayProp({ items: String })
  tags?: string[];
}

/** The gate that entities pass before they are saved, made anew for each race. */
let pass = gate(0);

function preSave<E>(req: unknown, entity: E): Promise<E> {
  return pass(req, entity);
}

@rest({ route: "/clashing", methods: [one()] })
class Clashing extends FrameworkModel {
  @rest({ methods: [update({ preSave })] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods: [update({ preSave })] })
  @prop({ type: Part })
  single?: Part;
}

/**
 * Sends two patches at once to a part as it is stored, in an array and alone, and gives what is left each time. With
 * `repeats`, a patch that is a 409 is sent again before that.
 */
async function race(
  stored: object,
  patches: object[],
  check: (found: Found) => void,
  repeats = false,
) {
  await using app = await mount([Clashing]);
  const { collection, base } = getModel(Clashing);
  const part = { _id: new base.Types.ObjectId(), ...stored };
  for (const path of [`parts/${part._id}`, "single"]) {
    const whole = { __v: 0, parts: [part], single: part };
    const { insertedId: _id } = await collection.insertOne(whole as never);
    pass = gate(patches.length);
    const replies = await Promise.all(
      patches.map((body) => app.patch(`/clashing/${_id}/${path}`, body)),
    );
    const statuses = replies.map(({ status }) => status);
    for (const [index, body] of patches.entries()) {
      if (!repeats || statuses[index] !== 409) continue;
      replies[index] = await app.patch(`/clashing/${_id}/${path}`, body);
    }
    const left = await collection.findOne({ _id }) as unknown as Clashing;
    const found = path === "single" ? left.single : left.parts?.[0];
    check({ replies, statuses: statuses.sort(), part: found as Part });
  }
}

/** What a race leaves. */
interface Found {
  readonly replies: readonly { readonly body: EntityBody }[];
  readonly statuses: readonly number[];
  readonly part: Part;
}

test("update() of a part answers 409 to one of two that replace the same array", async () => {
  for (const before of [{ tags: ["a"] }, {}]) {
    await race(before, [{ tags: ["b"] }, { tags: ["c"] }], ({ statuses, part }) => {
      assertEquals([statuses, part.tags?.length], [[200, 409], 1]);
    });
  }
});

test("update() of a part loses neither an array nor another field", async () => {
  await race({ tags: ["a"], name: "a" }, [{ tags: ["b"] }, { name: "b" }], ({ statuses, part }) => {
    assertEquals([statuses, part.tags, part.name], [[200, 200], ["b"], "b"]);
  });
});

test("update() of a part is a 409 to one of two that put an object where none is, and merges when repeated", async () => {
  const patches = [{ inner: { city: "W" }, free: { a: 1 } }, {
    inner: { country: "DE" },
    free: { b: 2 },
  }];
  for (const before of [{}, { inner: null, free: null }]) {
    await race(before, patches, ({ statuses, part, replies }) => {
      assertEquals([statuses, part.free], [[200, 409], { a: 1, b: 2 }]);
      assertEquals([part.inner?.city, part.inner?.country], ["W", "DE"]);
      const ids = replies.map(({ body }) => (body.inner as { _id: string })._id);
      assertEquals(ids, [String(part.inner?._id), String(part.inner?._id)]);
    }, true);
  }
});

test("update() of a part is no clash where keys of free-form data are numbers", async () => {
  // An object would put the numbers first.
  const list = [1, new Map<string, unknown>([["x", 1], ["3", null]])];
  const inner = new Map<string, unknown>([["y", list], ["5", 2]]);
  const free = new Map<string, unknown>([["z", 1], ["7", inner]]);
  await race({ free, tags: ["a"] }, [{ tags: ["b"] }, { name: "b" }], ({ statuses, part }) => {
    assertEquals([statuses, part.tags, part.name], [[200, 200], ["b"], "b"]);
    assertEquals(part.free, { z: 1, 7: { y: [1, { x: 1, 3: null }], 5: 2 } });
  });
  await race({ free, tags: ["a"] }, [{ tags: ["b"] }, { tags: ["c"] }], ({ statuses }) => {
    assertEquals(statuses, [200, 409]);
  });
});
