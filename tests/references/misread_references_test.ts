import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, arrayProp, create, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import type { Ref } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { namesAt } from "../support/names.ts";
import { mount } from "../support/support.ts";

class Player extends FrameworkModel {
  @prop()
  name?: string;
}

class Squad extends FrameworkModel {
  @rest({ route: "/players", methods: [all(), one(), create()] })
  @rest({ route: "/hooked", methods: [all({ postFetch: pass }), create({ preSave: pass })] })
  @arrayProp({ items: Player })
  players?: Ref<Player>[];
}

@rest({ route: "/clubs", methods: [one()] })
class Club extends Squad {
  @rest({ route: "/squads", methods: [one()] })
  @arrayProp({ items: Squad, embedded: true })
  squads?: Squad[];
  @rest({ route: "/first", methods: [one()] })
  @prop({ type: Squad })
  first?: Squad;
}

/** What others have stored with the identifier of an entity, or without one. */
const STORED: [with_: (id: unknown) => unknown, names: string][] = [
  [(id) => ["wrong", id], "A"],
  [(id) => [id, 5], "A"],
  [(id) => [[], id], "A"],
  [(id) => [null, id, true], "A"],
  [() => "wrong", ""],
  [() => ["wrong"], ""],
  [() => 5, ""],
];

/** Stores a club whose lists of references, at each level, are not what they should be. */
async function store(players: unknown) {
  const [_id, squad] = [new mongoose.Types.ObjectId(), new mongoose.Types.ObjectId()];
  const [first, squads] = [{ _id: squad, players }, [{ _id: squad, players }]];
  await getModel(Club).collection.insertOne({ _id, players, first, squads, __v: 0 } as never);
  return [`/clubs/${_id}`, `/clubs/${_id}/squads/${squad}`, `/clubs/${_id}/first`];
}

test("sub-routes skip what is no identifier in a stored list of references", async () => {
  await using app = await mount([Club]);
  for (const [stored, names] of STORED) {
    const { _id } = await getModel(Player).create({ name: "A" });
    for (const parent of await store(stored(_id))) {
      const at = `${JSON.stringify(stored("id"))} ${parent}`;
      for (const route of ["players", "hooked"]) {
        assertEquals([at, await namesAt(`${app.url}${parent}/${route}`)], [at, names]);
      }
      const { status } = await app.get(`${parent}/players/${_id}`);
      assertEquals([at, status], [at, names === "" ? 404 : 200]);
    }
  }
});

test("what is created below such a list is shown there", async () => {
  await using app = await mount([Club]);
  for (const [stored, names] of STORED) {
    const { _id } = await getModel(Player).create({ name: "A" });
    for (const parent of await store(stored(_id))) {
      for (const [route, name] of [["players", "B"], ["hooked", "C"]] as const) {
        assertEquals((await app.post(`${parent}/${route}`, { name })).status, 201);
      }
      const at = `${JSON.stringify(stored("id"))} ${parent}`;
      assertEquals([at, await namesAt(`${app.url}${parent}/players`)], [at, `${names}BC`]);
    }
  }
});
