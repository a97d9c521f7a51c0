import { assertEquals } from "@std/assert";
import { getModel } from "../../mod.ts";
import { watchCommands, writesTo } from "../support/both_paths.ts";
import { Team, Teammate } from "../fixtures/team.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount, NOBODY } from "../support/support.ts";

/** Stores people. */
async function people(count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => ({ name: `${index}` }));
  return (await getModel(Teammate).create(names)).map(({ _id }) => String(_id));
}

/** Stores a team that refers to nobody. */
async function team(fields = {}): Promise<string> {
  return String((await getModel(Team).create({ name: "t", ...fields } as never) as Team)._id);
}

/** The kinds of what is wrong, by path. */
function kindsOf({ status, body }: { status: number; body: ErrorBody }) {
  const kinds = Object.entries(body.errors ?? {}).map(([path, { kind }]) => [path, kind]);
  return [status, body.code, Object.fromEntries(kinds)];
}

test("a body that names an entity that is not there is a 400, wherever it names it", async () => {
  await using app = await mount([Team]);
  const [id = ""] = await people(1);
  const id2 = await team();
  const wrong: [body: object, ...paths: string[]][] = [
    [{ head: NOBODY }, "head"],
    [{ members: [id, id, NOBODY, id, NOBODY] }, "members.2", "members.4"],
    [{ main: { doer: NOBODY } }, "main.doer"],
    [{ tasks: [{ doer: id }, { doer: NOBODY }] }, "tasks.1.doer"],
    [{ named: { a: { doer: NOBODY }, b: { doer: id } } }, "named.a.doer"],
    [{ roles: { a: NOBODY, b: "nobody", c: id } }, "roles.a", "roles.b"],
    [{ head: NOBODY, members: [NOBODY], spy: NOBODY }, "head", "members.0", "spy"],
  ];
  for (const [method, path] of writesTo(id2)) {
    for (const [body, ...paths] of wrong) {
      const reply = await app[method]<ErrorBody>(path, { name: "n", ...body });
      const kinds = Object.fromEntries(paths.map((each) => [each, "exists"]));
      assertEquals(kindsOf(reply), [400, "BAD_DATA", kinds], `${method} ${path} ${paths}`);
      assertEquals(reply.text.includes(NOBODY), false);
    }
  }
  const [stored, ...others] = await getModel(Team).find().lean();
  assertEquals([stored?.name, stored?.__v, others], ["t", 0, []]);
});

test("a body that names what is there, the same twice, null or nothing is written", async () => {
  await using app = await mount([Team]);
  const [id = "", other = ""] = await people(2);
  for (const [method, path] of writesTo(await team({ head: NOBODY, members: [NOBODY] }))) {
    const members = [id, id, null, other];
    const body = { name: "n", members, roles: { a: id, b: null }, guest: NOBODY };
    const given = { ...body, main: { doer: id }, tasks: [{ doer: id }, { doer: null }, {}] };
    for (const head of [null, id]) {
      const reply = await app[method](path, { ...given, head });
      assertEquals(reply.status, method === "post" ? 201 : 200, reply.text);
      assertEquals([reply.body.head ?? null, reply.body.members], [head, members]);
    }
    const { head } = (await app[method](path, { name: "n" })).body;
    assertEquals(head, method === "post" ? undefined : id);
  }
});

test("one answer names what is not there beside values that cannot be cast and rules", async () => {
  await using app = await mount([Team]);
  const id = await team();
  const body = { head: NOBODY, members: [NOBODY, "x"], main: { text: "too long", doer: NOBODY } };
  const missing = { head: "exists", "members.0": "exists", "main.doer": "exists" };
  for (const [method, path] of writesTo(id)) {
    const some = await app[method]<ErrorBody>(path, { name: "n", ...body });
    const cast = { ...missing, "members.1": "ObjectId", "main.text": "maxlength" };
    assertEquals(kindsOf(some), [400, "BAD_DATA", cast]);
    const rules = { name: null, head: NOBODY, main: { text: "too long" } };
    const all = await app[method]<ErrorBody>(path, rules);
    const kinds = { name: "required", head: "exists", "main.text": "maxlength" };
    assertEquals(kindsOf(all), [400, "BAD_DATA", kinds]);
  }
});

test("each field is one query, whatever it holds, and a body that names none asks nothing", async () => {
  await using app = await mount([Team]);
  const ids = await people(300);
  const id = await team({ head: NOBODY });
  const sent = await watchCommands(app.database.uri);
  /** How often people were asked for, and how often for more of them. */
  const asked = () => {
    const commands = sent.splice(0).map(({ command }) => command);
    return [
      commands.filter(({ find }) => find === "teammates").length,
      commands.filter(({ getMore }) => getMore !== undefined).length,
    ];
  };
  for (const [method, path] of writesTo(id)) {
    const send = async (body: object) => {
      const { status } = await app[method](path, { name: "n", ...body });
      return [status < 300, ...asked()];
    };
    assertEquals(await send({ members: ids }), [true, 1, 0]);
    const tasks = ids.slice(0, 150).map((doer) => ({ doer }));
    assertEquals(await send({ members: ids, head: ids[0], tasks, spy: ids[1] }), [true, 4, 0]);
    assertEquals(await send({ head: null, members: [], guest: NOBODY }), [true, 0, 0]);
  }
});

test("the query has no more in it than the identifiers, and asks for no more", async () => {
  await using app = await mount([Team], { limits: { timeMS: 4321 } });
  const [id = ""] = await people(1);
  const sent = await watchCommands(app.database.uri);
  await app.created("/plain", { name: "n", members: [id, id] });
  const [find] = sent.filter(({ command }) => command.find === "teammates");
  const { filter, projection, maxTimeMS } = find?.command ?? {};
  const asked = JSON.parse(JSON.stringify({ filter, projection, limits: { timeMS: maxTimeMS } }));
  const expected = {
    filter: { $and: [{ _id: { $in: [id] } }] },
    projection: { _id: 1 },
    limits: { timeMS: 4321 },
  };
  assertEquals(asked, expected);
});

test("a field that cannot change any more is not asked for", async () => {
  await using app = await mount([Team]);
  const [founder = ""] = await people(1);
  const { _id } = await app.created("/plain", { name: "n", founder });
  for (const path of ["/plain", "/hooked"]) {
    const shown = await app.updated(`${path}/${_id}`, { name: "m", founder: NOBODY });
    assertEquals(shown.founder, founder);
  }
  assertEquals((await app.post("/plain", { name: "n", founder: NOBODY })).status, 400);
});

test("bodies of sub-routes are checked as those of roots are", async () => {
  await using app = await mount([Team]);
  const [doer = ""] = await people(1);
  for (const root of ["/plain", "/hooked"]) {
    const at = `${root}/${await team()}`;
    const calls = [["post", `${at}/main`], ["patch", `${at}/main`], [
      "post",
      `${at}/tasks`,
    ]] as const;
    for (const [method, path] of calls) {
      const wrong = await app[method]<ErrorBody>(path, { doer: NOBODY });
      assertEquals(kindsOf(wrong), [400, "BAD_DATA", { doer: "exists" }]);
      const { status } = await app[method](path, { doer, text: "a" });
      assertEquals(status, method === "post" ? 201 : 200);
    }
    const { tasks: [task] } = await app.read<{ tasks: [EntityBody] }>(at);
    const path = `${at}/tasks/${task._id}`;
    const wrong = await app.patch<ErrorBody>(path, { doer: NOBODY });
    assertEquals(kindsOf(wrong), [400, "BAD_DATA", { doer: "exists" }]);
    await app.updated(path, { doer });
  }
});

test("bodies of entities that a parent refers to are checked, and what the route stores is not", async () => {
  await using app = await mount([Team]);
  const [boss = ""] = await people(1);
  for (const root of ["/plain", "/hooked"]) {
    const at = `${root}/${await team()}/members`;
    const { _id } = await app.created(at, { name: "a", boss });
    const wrong = [await app.post<ErrorBody>(at, { boss: NOBODY })];
    wrong.push(await app.patch<ErrorBody>(`${at}/${_id}`, { boss: NOBODY }));
    for (const reply of wrong) assertEquals(kindsOf(reply), [400, "BAD_DATA", { boss: "exists" }]);
    await app.updated(`${at}/${_id}`, { boss: _id });
  }
  assertEquals(await getModel(Teammate).countDocuments(), 3);
});

test("an element that keeps its _id is asked for what the body names in it", async () => {
  await using app = await mount([Team]);
  const [doer = ""] = await people(1);
  const id = await team({ tasks: [{ doer: NOBODY, text: "a" }, { doer: NOBODY, text: "b" }] });
  const { tasks } = await app.read<{ tasks: [EntityBody, EntityBody] }>(`/plain/${id}`);
  const [{ _id: first }, { _id: second }] = tasks;
  const stays = [{ doer, _id: first }, { _id: second, text: "c" }];
  await app.updated(`/plain/${id}`, { tasks: stays });
  const named = [{ _id: first, doer }, { _id: second, doer: NOBODY }, { doer: NOBODY }];
  const wrong = await app.patch<ErrorBody>(`/plain/${id}`, { tasks: named });
  const kinds = { "tasks.1.doer": "exists", "tasks.2.doer": "exists" };
  assertEquals(kindsOf(wrong), [400, "BAD_DATA", kinds]);
});
