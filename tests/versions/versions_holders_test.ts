import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { arrayProp, type FrameworkRequest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Client, EntityBody } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { mount, NOBODY } from "../support/support.ts";

const WRITES = [create(), update(), remove()];
const PLAIN = [one(), ...WRITES];
const HOOKED = [
  one({ preSend: pass }),
  create(),
  update({ preSave: pass }),
  remove({ preSave: pass }),
];

class Card extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/people", methods: PLAIN })
class Person extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: PLAIN })
  @prop({ type: Card })
  card?: Card;
  @rest({ methods: PLAIN })
  @arrayProp({ items: Card, embedded: true })
  cards?: Card[];
}

/** Reads the last of all teams, whatever the path names. */
function latest(_req: FrameworkRequest) {
  return getModel(Team).findOne().sort("-text");
}

@rest({ route: "/teams", methods: PLAIN })
@rest({
  route: "/last",
  methods: [one({ fetch: latest }), update({ fetch: latest }), remove({ fetch: latest })],
})
class Team extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: PLAIN })
  @rest({ route: "/head", methods: HOOKED })
  @prop({ ref: Person })
  boss?: Ref<Person>;
  @rest({ methods: PLAIN })
  @prop({ type: Card })
  card?: Card;
}

function ifMatch(tag: string) {
  return { headers: { "if-match": tag } };
}

async function tagOf(app: Client, path: string): Promise<string> {
  const { status, headers } = await app.get(path);
  assertEquals(status, 200, path);
  return headers.get("etag") ?? "";
}

/** Checks that a tag of what was at a path is refused there, and that one of what is there now is not. */
async function checkOld(app: Client, path: string, old: string): Promise<void> {
  const now = await tagOf(app, path);
  assertEquals(old.split(".")[0], now.split(".")[0], "the versions are the same");
  assertEquals((await app.patch(path, { text: "x" }, ifMatch(old))).status, 412, path);
  assertEquals((await app.delete(path, ifMatch(old))).status, 412, path);
  assertEquals(await tagOf(app, path), now);
  const changed = await app.patch(path, { text: "x" }, ifMatch(`${old}, ${now}`));
  assertEquals(changed.status, 200, path);
  const next = changed.headers.get("etag") ?? "";
  assertEquals(await tagOf(app, path), next);
  assertEquals((await app.delete(path, ifMatch(next))).status, 204, path);
}

/** Makes a team with a boss; gives its path and that of a person like the boss. */
async function makeTeam(app: Client): Promise<{ team: string; other: EntityBody }> {
  const body = { card: {} };
  const [boss, other] = [await app.created("/people", body), await app.created("/people", body)];
  const cards = [{ _id: new mongoose.Types.ObjectId(NOBODY) }];
  await getModel(Person).collection.updateMany({}, { $set: { cards } });
  const { _id } = await app.created("/teams", { boss: boss._id });
  return { team: `/teams/${_id}`, other };
}

test("a tag of what a parent referred to is not one of what it refers to now", async () => {
  await using app = await mount([Team, Person]);
  for (const part of ["boss", "head", "boss/card", `boss/cards/${NOBODY}`]) {
    const { team, other } = await makeTeam(app);
    const old = await tagOf(app, `${team}/${part}`);
    await app.updated(team, { boss: other._id });
    await checkOld(app, `${team}/${part}`, old);
  }
});

test("a tag of what was created in a place is not one of what is created there later", async () => {
  await using app = await mount([Team, Person]);
  const { team } = await makeTeam(app);
  for (const part of ["boss", "head"]) {
    const path = `${team}/${part}`;
    assertEquals((await app.delete(path)).status, 204);
    const { headers } = await app.post(path, {});
    const old = headers.get("etag") ?? "";
    assertEquals(await tagOf(app, path), old);
    assertEquals((await app.delete(path, ifMatch(old))).status, 204);
    await app.created(path, {});
    await checkOld(app, path, old);
    await app.created(path, {});
  }
});

test("a tag of what a fetch hook gave is not one of what it gives now", async () => {
  await using app = await mount([Team, Person]);
  await app.created("/teams", { text: "a", card: {} });
  const old = await tagOf(app, "/last/x");
  await app.created("/teams", { text: "b", card: {} });
  await checkOld(app, "/last/x", old);
});

test("tags of one entity match at each of its paths", async () => {
  await using app = await mount([Team, Person]);
  const { team, other } = await makeTeam(app);
  await app.updated(team, { boss: other._id });
  const paths = [`/people/${other._id}`, `${team}/boss`, `${team}/head`];
  for (const read of paths) {
    for (const written of paths) {
      const match = ifMatch(await tagOf(app, read));
      assertEquals((await app.patch(written, { text: "x" }, match)).status, 200, read + written);
      assertEquals((await app.patch(written, { text: "x" }, match)).status, 412, read + written);
    }
  }
});

test("If-None-Match answers 304 at each path of an entity, with the tag of that path", async () => {
  await using app = await mount([Team, Person]);
  const { team, other } = await makeTeam(app);
  await app.updated(team, { boss: other._id });
  const paths = [`/people/${other._id}`, `${team}/boss`];
  const tags = [await tagOf(app, paths[0] ?? ""), await tagOf(app, paths[1] ?? "")];
  assert(tags[0] !== tags[1]);
  for (let time = 0; time < 3; time++) {
    for (const [index, path] of paths.entries()) {
      const headers = { "if-none-match": tags[index] ?? "" };
      const reply = await app.get(path, { headers });
      assertEquals([reply.status, reply.headers.get("etag")], [304, tags[index]]);
    }
  }
});
