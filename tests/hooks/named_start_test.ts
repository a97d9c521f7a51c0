import { assertEquals, assertThrows } from "@std/assert";
import type { Schema } from "mongoose";
import {
  all,
  and,
  create,
  Framework,
  FrameworkModel,
  leaveOut,
  onlyIf,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";

const hide = leaveOut<Note, "secret", "owner">(["secret"], ["owner"], () => true);
const show = onlyIf<Note, "owner">(["owner"], () => true);

abstract class Note extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.index({ secret: "text" });
  }
  @prop()
  owner?: string;
  @prop()
  secret?: string;
}

/** Starts a class with operations, and gives the error. */
function start(
  method: (given: never) => unknown,
  given: object,
  options: object = {},
): string | undefined {
  @rest({ route: "/notes", methods: [method(given as never) as never] })
  class Started extends Note {}
  try {
    Framework.initialize({ models: [Started], ...options });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const named = (names: string[]) => onlyIf(names as never, () => true);

const CASES: [string, (given: never) => unknown, object, string | undefined][] = [
  ["fields", all, { postFetch: show }, undefined],
  [
    "no field",
    all,
    { postFetch: named(["ownr"]) },
    `all() has "ownr" in "postFetch", which is no field`,
  ],
  [
    "no field in a composed hook",
    update,
    { preSave: and(show, named(["x"]), (_req: never, each: object) => each) },
    `update() has "x" in "preSave", which is no field`,
  ],
  [
    "no field to leave out",
    all,
    { filter: ["owner"], preSend: leaveOut(["x"] as never, ["owner"] as never, () => true) },
    `all() has "x" in "preSend", which is no field`,
  ],
  [
    "the identifier",
    all,
    { filter: ["owner"], preSend: leaveOut(["_id"] as never, ["owner"] as never, () => true) },
    `all() leaves out "_id" in "preSend", by which clients tell entities apart`,
  ],
  [
    "in another hook",
    all,
    { filter: ["owner"], postFetch: hide },
    `all() has leaveOut() as "postFetch", and only "preSend" decides what an answer shows`,
  ],
  [
    "no filter",
    all,
    { preSend: hide },
    `all() needs a "filter": by q, clients could guess "secret", which a hook leaves out`,
  ],
  ["no q", create, { preSend: hide }, undefined],
  ["a filter", all, { filter: ["owner"], preSend: and(hide, show) }, undefined],
  [
    "guessed by a filter",
    all,
    { filter: ["owner", "secret"], preSend: and(hide, show) },
    `all() has "secret" in "filter", which a hook leaves out`,
  ],
  [
    "guessed by the order",
    all,
    { filter: ["owner"], sort: ["secret"], preSend: hide },
    `all() has "secret" in "sort", which a hook leaves out`,
  ],
  [
    "guessed by a search",
    all,
    { filter: ["owner"], search: ["secret"], preSend: hide },
    `all() has "secret" in "search", which a hook leaves out`,
  ],
  [
    "guessed by a text index",
    all,
    { filter: ["owner"], search: { index: true }, preSend: hide },
    `all() cannot search in a text index of "secret", which a hook leaves out`,
  ],
  ["selected", all, { filter: ["owner"], select: ["secret"], preSend: hide }, undefined],
];

test("names that are no fields, and fields that could be guessed, are errors at the start", async (t) => {
  for (const [name, method, given, problem] of CASES) {
    await t.step(name, () => {
      const expected = problem && `Cannot mount "Started": ${problem}`;
      assertEquals(start(method, given), expected);
    });
  }
  assertEquals(start(all, { preSend: hide }, { filters: "listed" }), undefined);
});

test("onlyIf() and leaveOut() refuse lists and tests that are none", () => {
  for (const names of [[], [1], [""], "owner", undefined]) {
    assertThrows(
      () => onlyIf(names as never, (() => true) as never),
      TypeError,
      "Cannot make a hook of onlyIf(): it needs a list of names of fields",
    );
    assertThrows(
      () => leaveOut(names as never, ["a"] as never, () => true),
      TypeError,
      "leaveOut()",
    );
    assertThrows(
      () => leaveOut(["a"] as never, names as never, () => true),
      TypeError,
      "leaveOut()",
    );
  }
  assertThrows(
    () => onlyIf(["owner"] as never, true as never),
    TypeError,
    "Cannot make a hook of onlyIf(): the test is not a function",
  );
});
