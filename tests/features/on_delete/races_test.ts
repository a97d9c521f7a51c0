import { assert, assertEquals } from "@std/assert";
import { getModel, type ModelClass } from "../../../mod.ts";
import { casesOf } from "../../harness/report.ts";
import { test } from "../../harness/testing.ts";
import type { Mounted } from "../../support/support.ts";
import { Person, Project, serveAll, Task, Team } from "./projects.ts";

/** The writes that refer to a person or project while it is removed. */
const WRITES: [string, (app: Mounted) => Promise<Race>][] = [
  ["a creation", async (app) => {
    const { _id } = await app.created("/people", { name: "a" });
    return { path: `/people/${_id}`, send: () => app.post("/projects", { owner: _id }) };
  }],
  ["an update", async (app) => {
    const { _id } = await app.created("/people", { name: "a" });
    const project = await app.created("/projects", {});
    const send = () => app.patch(`/projects/${project._id}`, { owner: _id });
    return { path: `/people/${_id}`, send };
  }],
  ["an update of a list", async (app) => {
    const { _id } = await app.created("/people", { name: "a" });
    const team = await app.created("/teams", {});
    const send = () => app.patch(`/teams/${team._id}`, { members: [_id] });
    return { path: `/people/${_id}`, send };
  }],
  ["a creation for a cascade into the trash", async (app) => {
    const { _id } = await app.created("/projects", {});
    return { path: `/projects/${_id}`, send: () => app.post("/tasks", { project: _id }) };
  }],
  ["an update for a cascade into the trash", async (app) => {
    const { _id } = await app.created("/projects", {});
    const task = await app.created("/tasks", {});
    const send = () => app.patch(`/tasks/${task._id}`, { project: _id });
    return { path: `/projects/${_id}`, send };
  }],
  ["a removal by the part of another entity", async (app) => {
    const { _id } = await app.created("/people", { name: "a" });
    const team = await app.created("/teams", { members: [_id] });
    const send = () => app.post("/projects", { owner: _id });
    return { path: `/teams/${team._id}/members/${_id}`, send };
  }],
];

interface Race {
  /** The path of the entity that is removed. */
  readonly path: string;
  readonly send: () => Promise<{ readonly status: number }>;
}

/** Returns the number of references of living entities that lead to no living entity. */
async function countDangling(): Promise<number> {
  const fields: [ModelClass, string, ModelClass][] = [
    [Project, "owner", Person],
    [Team, "members", Person],
    [Task, "project", Project],
  ];
  let count = 0;
  for (const [owner, field, referred] of fields) {
    const living = await getModel(referred).collection.distinct("_id", { deletedAt: null });
    const named = { [field]: { $exists: true, $nin: [...living, null, []] }, deletedAt: null };
    count += await getModel(owner).collection.countDocuments(named);
  }
  return count;
}

/** Runs races of a removal and a write, and returns how often each pair of answers came. */
async function runRaces(app: Mounted, times: number): Promise<Map<string, number>> {
  const answers = new Map<string, number>();
  for (let index = 0; index < times; index++) {
    const [, prepare] = WRITES[index % WRITES.length] as typeof WRITES[number];
    const { path, send } = await prepare(app);
    const both = index % 2 === 0 ? [send(), app.delete(path)] : [app.delete(path), send()];
    const sent = await Promise.all(both);
    const statuses = sent.map(({ status }) => status).sort().join();
    answers.set(statuses, (answers.get(statuses) ?? 0) + 1);
  }
  return answers;
}

/** The pairs of answers that a race may have. */
const ALLOWED = new Set(
  ["200,204", "200,409", "201,204", "201,409", "204,400", "204,409"].map((each) =>
    each.split(",").sort().join()
  ),
);

const RACES = casesOf(120, 30);

test("no reference dangles after races of removals and writes that refer to the entity", async () => {
  await using app = await serveAll();
  const answers = await runRaces(app, RACES);
  assertEquals([...answers.keys()].filter((each) => !ALLOWED.has(each)), []);
  assertEquals(await countDangling(), 0);
  assert(answers.size > 1, `the requests of all races had the same answers: ${[...answers]}`);
});

test("many writes at once refer to one entity", async () => {
  await using app = await serveAll();
  const { _id } = await app.created("/people", { name: "a" });
  const sent = await Promise.all(
    Array.from({ length: 40 }, () => app.post("/projects", { owner: _id })),
  );
  assertEquals(sent.map(({ status }) => status), Array(40).fill(201));
  assertEquals((await app.delete(`/people/${_id}`)).status, 409);
});
