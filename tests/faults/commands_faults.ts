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

/** A fault: the row of the documentation that describes it, and how the server gets it. */
interface Fault {
  readonly row: string;
  readonly mode: object | "alwaysOn";
  readonly data: object;
}

const [ONCE, AGAIN] = [{ times: 1 }, "alwaysOn"] as const;

const REPEATED = "fails once (errors 91, 189, 262), or its connection ends";
const LASTING = "fails each time, or the server hangs";

const FAULTS: Readonly<Record<string, Fault>> = {
  "asks to repeat": { row: REPEATED, mode: ONCE, data: { errorCode: 262 } },
  "always": { row: LASTING, mode: AGAIN, data: { errorCode: 262 } },
  "lock time-out": {
    row: "fails once (errors 24, 43, 50, 175, 237, 11601)",
    mode: ONCE,
    data: { errorCode: 24 },
  },
  "write conflict": {
    row: "meets a write conflict (error 112)",
    mode: ONCE,
    data: { errorCode: 112 },
  },
  "breaks": { row: REPEATED, mode: ONCE, data: { closeConnection: true } },
  "breaks, always": { row: LASTING, mode: AGAIN, data: { closeConnection: true } },
  "hangs": { row: LASTING, mode: AGAIN, data: { blockConnection: true, blockTimeMS: 2000 } },
  "write concern": {
    row: "does not reach enough members",
    mode: ONCE,
    data: { writeConcernError: { code: 100, errmsg: "Not enough data-bearing nodes" } },
  },
};

/** For faults that last: every answer is a 503. */
const HASTY = { limits: { timeMS: 500 }, onError: () => {} };

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
  const { mode = "off", data } = FAULTS[fault] ?? {};
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

/** A command of a request. */
interface Sent {
  readonly call: string;
  readonly command: string;
}

const SENT: readonly Sent[] = Object.entries(CALLS).flatMap(([call, { commands }]) =>
  commands.map((command) => ({ call, command }))
);

/** Returns the column of the documentation that holds for a command. */
function columnOf({ call, command }: Sent): string {
  if (/find$|aggregate$/.test(command)) return "read";
  if (command === "commitTransaction") return "commit";
  if (CALLS[call]?.commands.includes("commitTransaction")) return "write in a transaction";
  return call === "`removeAll()`" ? "`removeAll()`" : "write";
}

/** Reads the answers of the documentation, by the row and the column of its table. */
async function readTable(): Promise<Map<string, Map<string, string>>> {
  const [, section = ""] = (await Deno.readTextFile(PAGE)).split("\n## When one command fails\n");
  const lines = section.split("\n## ", 1)[0]?.split("\n").filter((line) => /^\|(?! -)/.test(line));
  const [[, ...columns] = [], ...rows] =
    lines?.map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim())) ?? [];
  return new Map(
    rows.map(([row = "", ...cells]) => [
      row,
      new Map(cells.map((cell, index) => [columns[index] ?? "", cell])),
    ]),
  );
}

/** Tries a fault on commands; one that lasts meets many requests at a time. Returns the answers. */
async function tryFault(
  notes: Notes,
  { sent, fault }: { readonly sent: readonly Sent[]; readonly fault: string },
): Promise<Map<Sent, string>> {
  const told = new Map<Sent, string>();
  const lasts = FAULTS[fault]?.mode === AGAIN;
  for (const group of Map.groupBy(sent, (each) => lasts ? each.command : each).values()) {
    const calls = group.map(({ call }) => call);
    const command = group[0]?.command ?? "";
    const answers = await suffer(notes, { calls, command, fault });
    for (const [index, each] of group.entries()) told.set(each, answers[index] ?? "");
  }
  return told;
}

function isTold(given: string, answer: string): boolean {
  return answer === "503, unknown" ? ["503", "503, written"].includes(given) : given === answer;
}

test("docs/reliability.md says what is answered when one command fails", async (t) => {
  const answers = await readTable();
  assertEquals(
    [...answers.keys()].sort(),
    [
      ...new Set(Object.values(FAULTS).map(({ row }) => row)),
    ].sort(),
  );
  await using notes = await openNotes();
  for (const [fault, { row }] of Object.entries(FAULTS)) {
    if (fault === "breaks, always" && !isLong) continue;
    await t.step(fault, async () => {
      const answerTo = (each: Sent) => answers.get(row)?.get(columnOf(each)) ?? "";
      const sent = SENT.filter((each) => answerTo(each) !== "–");
      const told = await tryFault(notes, { sent, fault });
      const wrong = sent.filter((each) => !isTold(told.get(each) ?? "", answerTo(each)))
        .map((each) => `${each.call}, ${each.command}: ${told.get(each)}, not ${answerTo(each)}`);
      assertEquals(wrong, []);
    });
  }
});

test("every command that a request sends has been made to fail", async (t) => {
  await using notes = await openNotes();
  for (const [call, { send, commands }] of Object.entries(CALLS)) {
    await t.step(call, async () => {
      const place = await putNote(notes.host);
      notes.sent.splice(0);
      await send(notes.patient, place);
      // Once for each connection
      const sent = notes.sent.filter((name) => name !== "hello");
      const told = sent.map((name, at) => sent.indexOf(name) < at ? `second ${name}` : name);
      // Inside of a transaction, a third one tells what is still selected.
      assertEquals([...new Set(told)], commands);
    });
  }
});
