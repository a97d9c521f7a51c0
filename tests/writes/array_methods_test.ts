import { assertEquals } from "@std/assert";
import {
  action,
  arrayProp,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { gate } from "../support/race.ts";
import { mount, type Mounted } from "../support/support.ts";

/** Lets requests pass in pairs, after both have read their entity. */
let together = gate(1);

class Line extends FrameworkModel {
  @prop()
  text?: string;
}

interface Changed<V> {
  addToSet(...values: V[]): void;
  pull(value: V): void;
}

type Tagged = Entity<List> & {
  readonly tags: Changed<string>;
  readonly lines: Changed<object>;
};

const CHANGES: Readonly<Record<string, (list: Tagged, value: string) => void>> = {
  addToSet: ({ tags }, value) => tags.addToSet(value),
  pull: ({ tags }, value) => tags.pull(value),
  push: ({ tags }, value) => void tags.push(value),
  replace: (list, value) => list.set({ tags: [value] }),
  addLine: ({ lines }, text) => lines.addToSet({ text }),
  pullLine: ({ lines }, text) => lines.pull(lines.find((line) => line.text === text) as object),
};

/** Changes the tags by the methods that the headers of the request name. */
async function change(req: FrameworkRequest, list: Entity<List>): Promise<Entity<List>> {
  await together(req, list);
  const [method = "", value = ""] = String(req.get("change")).split(" ");
  CHANGES[method]?.(list as Tagged, value);
  return list;
}

class List extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: String })
  tags!: string[];
  @arrayProp({ items: Line, embedded: true })
  lines!: Line[];
}

const touch = action("touch", {
  on: "one",
  run: async (req, list: Entity<List>) => {
    await change(req, list);
    return await list.save();
  },
});

@rest({ route: "/hooked", methods: [one(), update({ preSave: change }), touch] })
class Hooked extends List {}

@rest({ route: "/kept", methods: [one(), update({ preSave: change }), touch], history: true })
class Kept extends List {}

/** Sends two changes of one entity at once, and returns the sorted statuses and the tags in the end. */
async function raceOf(app: Mounted, path: string, changes: readonly string[]) {
  const [, route] = path.split("/");
  const model = getModel(route === "kept" ? Kept : Hooked);
  const { _id } = await model.create({ tags: ["a"], lines: [{ text: "a" }, { text: "b" }] });
  together = gate(changes.length);
  const answers = await Promise.all(changes.map((each) => {
    const options = { headers: { change: each } };
    return path.endsWith("/touch")
      ? app.post(`/${route}/${_id}/touch`, undefined, options)
      : app.patch(`/${route}/${_id}`, {}, options);
  }));
  const stored = await model.findById(_id).lean();
  const isOfLines = changes.some((each) => each.includes("Line"));
  const values = isOfLines ? stored?.lines.map(({ text = "" }) => text) : stored?.tags;
  return [answers.map(({ status }) => status).sort(), values?.toSorted()];
}

async function serve(): Promise<Mounted> {
  const app = await mount([Hooked, Kept], {
    mongo: await sharedReplicaSet(),
    onError: () => undefined,
  });
  for (const model of [Hooked, Kept]) await getModel(model).createCollection();
  return app;
}

for (const path of ["/hooked", "/kept"]) {
  test(`hooks of ${path} change an array by methods that meet`, async () => {
    await using app = await serve();
    const race = (...changes: string[]) => raceOf(app, path, changes);
    assertEquals(await race("addToSet b", "addToSet b"), [[200, 200], ["a", "b"]]);
    assertEquals(await race("addToSet b", "addToSet c"), [[200, 200], ["a", "b", "c"]]);
    assertEquals(await race("push b", "push b"), [[200, 200], ["a", "b", "b"]]);
    assertEquals(await race("pull a", "pull a"), [[200, 200], []]);
    assertEquals(await race("addLine c", "addLine d"), [[200, 200], ["a", "b", "c", "d"]]);
    assertEquals(await race("pullLine a", "pullLine b"), [[200, 200], []]);
    assertEquals(await race("addLine c", "pullLine b"), [[200, 200], ["a", "c"]]);
    const [statuses, tags] = await race("replace b", "replace c");
    assertEquals([statuses, tags?.length], [[200, 409], 1]);
  });

  test(`an action of ${path} that meets another write is a 409, and changes nothing`, async () => {
    await using app = await serve();
    const race = (...changes: string[]) => raceOf(app, `${path}/touch`, changes);
    assertEquals(await race("addToSet b", "addToSet b"), [[200, 409], ["a", "b"]]);
    assertEquals(await race("push b", "push b"), [[200, 409], ["a", "b"]]);
    assertEquals(await race("pull a", "pull a"), [[200, 409], []]);
    assertEquals((await race("replace b", "replace c"))[0], [200, 409]);
  });
}
