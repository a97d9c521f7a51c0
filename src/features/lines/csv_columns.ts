import { badFormat } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { unmarkFormula } from "../../json/formula_marks.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import type { Count } from "../../write/body/read_body.ts";
import { cellsOf } from "./csv_rows.ts";

export interface ImportColumn {
  readonly names: readonly string[];
  readonly field: FieldShape;
}

/** `undefined` is an ignored column: answers show its field, but the caller cannot set it. */
export function readHead(
  head: string,
  { shape, limits: { maxKeys } }: { readonly shape: Shape; readonly limits: Count },
): readonly (ImportColumn | undefined)[] {
  const names = new Set<string>();
  const cells = cellsOf(head, maxKeys);
  if (cells.length > maxKeys) throw badFormat(`The head names more than ${maxKeys} columns`);
  const columns = cells.map(({ text }) => {
    const name = unmarkFormula(text);
    const column = readColumn(name, shape);
    if (names.has(name)) throw badColumn(name, "is there twice");
    names.add(name);
    return column;
  });
  if (columns.some((column) => column !== undefined)) return columns;
  throw badFormat("The head names no column that can be set");
}

export function takesColumns({ fields }: Shape): boolean {
  return [...fields.values()].some(({ kind, writable }) =>
    writable && (kind === "scalar" || kind === "object")
  );
}

function readColumn(name: string, shape: Shape): ImportColumn | undefined {
  const names = name.split(".");
  let fields: Shape | undefined = shape;
  let field: FieldShape | undefined;
  let isSettable = true;
  let isShown = true;
  for (const each of names) {
    field = fields?.fields.get(each);
    isSettable &&= field?.writable === true;
    isShown &&= whyUnseen(field) === undefined;
    fields = field?.shape;
  }
  if (field === undefined || !isSettable && !isShown) throw unknownColumn(name);
  if (field.kind !== "scalar") throw badColumn(name, "is not a single value");
  return isSettable ? { names, field } : undefined;
}

function unknownColumn(name: string): RestError {
  const isOtherTable = /[;\t]/.test(name);
  return badColumn(name, `is unknown${isOtherTable ? ": commas must separate the columns" : ""}`);
}

const LONGEST_NAME = 100;

function badColumn(name: string, problem: string): RestError {
  const column = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
  return badFormat(`Column "${column}" ${problem}`, { column });
}
