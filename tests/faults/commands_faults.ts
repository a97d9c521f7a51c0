import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { Framework } from "../../mod.ts";
import { client } from "../support/client.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";
import { isLong } from "../harness/report.ts";
import { BEFORE, buildNotes, CALLS, look, type Place, putNote } from "./commands/calls.ts";

const PAGE = new URL("../../docs/reliability.md", import.meta.url);

/** The faults, as the columns of the table name them, and what makes the server show them. */
const FAULTS: Readonly<Record<string, { readonly mode: object | string; readonly data: object }>> =
  {
    "asks to repeat": { mode: { times: 1 }, data: { errorCode: 262 } },
    "always": { mode: "alwaysOn", data: { errorCode: 262 } },
    "lock time-out": { mode: { times: 1 }, data: { errorCode: 24 } },
    "write conflict": { mode: { times: 1 }, data: { errorCode: 112 } },
    "breaks": { mode: { times: 1 }, data: { closeConnection: true } },
    "breaks, always": { mode: "alwaysOn", data: { closeConnection: true } },
    "hangs": { mode: "alwaysOn", data: { blockConnection: true, blockTimeMS: 2000 } },
    "write concern": {
      mode: { times: 1 },
      data: { writeConcernError: { code: 100, errmsg: "Not enough data-bearing nodes" } },
    },
  };

/** For faults that last: every answer is a 503. */
const HASTY = { maxTimeMS: 500, onError: () => {} };

const APP = "commands";
const DATABASE = "commands";

/** Serves notes from a server whose commands can be made to fail. */
async function openNotes() {
  const args = ["--setParameter", "enableTestCommands=1"];
  const mongo = await startMongo({ replicaSet: 1, args });
  const open = (options: object) =>
    mongoose.createConnection(mongo.uri, { dbName: DATABASE, ...options }).asPromise();
  const [host, connection] = [await open({}), await open({ appName: APP, monitorCommands: true })];
  const sent: string[] = [];
  connection.getClient().on("commandStarted", ({ commandName }) => sent.push(commandName));
  const models = [buildNotes(connection)];
  const prepare = (app: Express) =>
    app.use(express.json()).use("/hasty", Framework.initialize({ models, ...HASTY }));
  const patient = await mount(models, { prepare });
  const hasty = client(`${patient.url}/hasty`);
  await until(async () => (await patient.get("/pages")).status === 200);
  return {
    ...{ patient, hasty, host, sent },
    fail: (mode: object | string, data?: object) =>
      host.getClient().db("admin").command({
        ...{ configureFailPoint: "failCommand", mode },
        ...data && { data: { ...data, appName: APP } },
      }),
    async [Symbol.asyncDispose]() {
      await patient[Symbol.asyncDispose]();
      await Promise.all([host, connection].map((each) => each.close()));
      await mongo.stop();
    },
  };
}

type Notes = Awaited<ReturnType<typeof openNotes>>;

/** What a request was answered, and whether the write has happened. */
async function tell({ host }: Notes, { call, place, status }: {
  readonly call: string;
  readonly place: Place;
  readonly status: number;
}): Promise<string> {
  // The driver may repeat a commit meanwhile, between the two reads of one look
  const first = await look(host, place);
  const stored = first.includes("?") ? await look(host, place) : first;
  const after = CALLS[call]?.after;
  if (status >= 200 && status < 300) return stored === after ? "success" : `success, ${stored}`;
  if (stored === BEFORE) return `${status}`;
  return stored === after ? `${status}, written` : `${status}, ${stored}`;
}

/** Resolves when the server works on nothing that the application has sent. */
async function untilIdle(host: Connection): Promise<void> {
  const pipeline = [{ $currentOp: {} }, {
    $match: { appName: APP, ns: /^commands/, active: true },
  }];
  const isIdle = async () =>
    (await host.getClient().db("admin").aggregate(pipeline).toArray()).length === 0;
  await until(isIdle);
}

/** The command that is to fail: the second `find` of a request is the only one for parts. */
function pointOf(command: string): object {
  const [name = "", before] = command.split(" ").reverse();
  return { failCommands: [name], ...before && { namespace: `${DATABASE}.parts` } };
}

/** Sends requests while the same fault harms the same command of each; gives what they were answered. */
async function suffer(notes: Notes, { calls, command, fault }: {
  readonly calls: readonly string[];
  readonly command: string;
  readonly fault: string;
}): Promise<string[]> {
  const { mode, data } = FAULTS[fault] ?? { mode: "off", data: {} };
  const places = await Promise.all(calls.map(() => putNote(notes.host)));
  const app = mode === "alwaysOn" ? notes.hasty : notes.patient;
  await until(async () => (await app.get("/pages")).status === 200);
  await notes.fail(mode, { ...data, ...pointOf(command) });
  const replies = await Promise.all(
    places.map(async (place, index) => {
      const call = calls[index] ?? "";
      const { status } = await CALLS[call]?.send(app, place) ?? { status: 0 };
      return { call, place, status };
    }),
  );
  await notes.fail("off");
  await untilIdle(notes.host);
  return await Promise.all(replies.map((reply) => tell(notes, reply)));
}

/** A row of the table: a request, the command of it that fails, and what it is answered. */
type Row = readonly [call: string, command: string, ...answers: string[]];

/** The cells of the tables below the heading of the documentation, without the lines below their heads. */
async function readTables(): Promise<string[][]> {
  const [, section = ""] = (await Deno.readTextFile(PAGE)).split("\n## When one command fails\n");
  const lines = section.split("\n## ", 1)[0]?.split("\n").filter((line) => /^\|(?! -)/.test(line));
  return lines?.map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim())) ?? [];
}

/** Returns the row of answers that holds for a command of a request. */
function nameAnswers(call: string, command: string, commands: readonly string[]): string {
  if (/find$|aggregate$/.test(command)) return "a read";
  if (command === "commitTransaction") return command;
  if (commands.includes("commitTransaction")) return "a write in a transaction";
  return call === "`removeAll()`" ? "the write of `removeAll()`" : "a write";
}

/** Reads a row for each command of each request, with the names of the faults first. */
async function readTable(): Promise<{ readonly faults: string[]; readonly rows: Row[] }> {
  const tables = await readTables();
  const headAt = tables.findIndex(([cell]) => cell === "what fails");
  const [, ...faults] = tables[headAt] ?? [];
  const answers = new Map(tables.slice(headAt + 1).map(([name = "", ...cells]) => [name, cells]));
  const rows = tables.slice(1, headAt).flatMap(([call = "", cell = ""]) => {
    const commands = cell.split(", ");
    return commands.map((command): Row => [
      ...[call, command] as const,
      ...answers.get(nameAnswers(call, command, commands)) ?? [],
    ]);
  });
  return { faults, rows };
}

/** Tries a fault on the commands of all rows; one that lasts meets many requests at a time. */
async function tryFault(notes: Notes, { rows, fault }: { rows: readonly Row[]; fault: string }) {
  const told: Row[] = [];
  const mode = FAULTS[fault]?.mode;
  const groups = Map.groupBy(rows, (row) => mode === "alwaysOn" ? row[1] : row);
  for (const group of groups.values()) {
    const calls = group.map(([call]) => call);
    const command = group[0]?.[1] ?? "";
    const answers = await suffer(notes, { calls, command, fault });
    told.push(...calls.map((call, index): Row => [call, command, answers[index] ?? ""]));
  }
  return told;
}

test("docs/reliability.md says what is answered when one command fails", async (t) => {
  const { faults, rows } = await readTable();
  assertEquals(faults, Object.keys(FAULTS));
  assertEquals([...new Set(rows.map(([call]) => call))], Object.keys(CALLS));
  await using notes = await openNotes();
  for (const [index, fault] of faults.entries()) {
    if (fault === "breaks, always" && !isLong) continue;
    await t.step(fault, async () => {
      const expected = rows.map((row): Row => [row[0], row[1], row[index + 2] ?? ""])
        .filter(([, , answer]) => answer !== "–");
      const wrong: string[] = [];
      const told = await tryFault(notes, { rows: expected, fault });
      for (const [call, command, answer] of expected) {
        const given = told.find((row) => row[0] === call && row[1] === command)?.[2] ?? "";
        const isRight = answer === "503, unknown"
          ? ["503", "503, written"].includes(given)
          : given === answer;
        if (!isRight) wrong.push(`${call}, ${command}: ${given}, not ${answer}`);
      }
      assertEquals(wrong, []);
    });
  }
});

test("docs/reliability.md names every command that a request sends", async (t) => {
  const { rows } = await readTable();
  await using notes = await openNotes();
  for (const [call, { send }] of Object.entries(CALLS)) {
    await t.step(call, async () => {
      const place = await putNote(notes.host);
      notes.sent.splice(0);
      await send(notes.patient, place);
      const named = rows.filter(([each]) => each === call).map(([, command]) => command);
      // Once for each connection
      const sent = notes.sent.filter((name) => name !== "hello");
      const told = sent.map((name, at) => sent.indexOf(name) < at ? `second ${name}` : name);
      // Inside of a transaction, a third one tells what is still selected.
      assertEquals([...new Set(told)], named);
    });
  }
});
