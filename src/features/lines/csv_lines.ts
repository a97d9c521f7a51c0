import { badData, badFormat, type Problem, type Problems } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { unmarkFormula } from "../../json/formula_marks.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { isLostInteger, mayBeRounded } from "../../schema/fields/json_numbers.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { checkSize, type Count } from "../../write/body/read_body.ts";
import { typeProblem } from "../../write/body/strict_body.ts";
import type { BodyParser, ParsedLine } from "./body_parser.ts";
import { type ImportColumn, readHead } from "./csv_columns.ts";
import { type Cell, cellsOf, type CsvRow, RowSplitter, textOf } from "./csv_rows.ts";
import type { ImportBody } from "./import_body.ts";

type Values = Record<string, unknown>;
type Columns = readonly (ImportColumn | undefined)[];

/** Wrong columns are refused before anything is stored. */
export async function readCsvHead(
  body: ImportBody,
  { shape, limits }: { readonly shape: Shape; readonly limits: Count },
): Promise<BodyParser> {
  const splitter = new RowSplitter();
  for (let isAtEnd = false;;) {
    const row = splitter.take();
    // Spreadsheets write a byte order mark.
    const head = row && textOf(row).replace(/^\ufeff/, "");
    if (head) return new CsvLines(splitter, { columns: readHead(head, { shape, limits }), limits });
    if (row !== undefined) continue;
    if (isAtEnd) throw badFormat("The body has no head: its first row names the columns");
    const chunk = await body.next(Infinity);
    if (chunk === undefined) throw badFormat("The head of the body cannot be read");
    splitter.add(chunk);
    isAtEnd = chunk === null;
  }
}

class CsvLines implements BodyParser {
  readonly #splitter: RowSplitter;
  readonly #columns: Columns;
  readonly #limits: Count;

  constructor(
    splitter: RowSplitter,
    { columns, limits }: { readonly columns: Columns; readonly limits: Count },
  ) {
    this.#splitter = splitter;
    this.#columns = columns;
    this.#limits = limits;
  }

  get next(): number {
    return this.#splitter.line;
  }

  *parse(chunk: Uint8Array | null | undefined): Generator<ParsedLine> {
    if (chunk !== undefined) this.#splitter.add(chunk);
    for (let row = this.#splitter.take(); row !== undefined; row = this.#splitter.take()) {
      yield { line: row.line, size: row.bytes.length, ...this.#read(row) };
    }
  }

  #read(row: CsvRow): Pick<ParsedLine, "body" | "error"> {
    try {
      const text = textOf(row);
      if (text === "") return {};
      const body = bodyOf(cellsOf(text, this.#columns.length), this.#columns);
      checkSize(body, this.#limits);
      return { body };
    } catch (error) {
      if (error instanceof RestError) return { error };
      throw error;
    }
  }
}

function bodyOf(cells: readonly Cell[], columns: Columns): JsonObject {
  const { length } = columns;
  if (cells.length !== length) {
    throw badFormat(`The row does not have one cell for each of the ${length} columns of the head`);
  }
  const body: Values = {};
  const problems: Problems = {};
  for (const [index, cell] of cells.entries()) {
    const column = columns[index];
    if (column === undefined) continue;
    const value = valueOf(cell, column);
    if (value === undefined) continue;
    const path = column.names.join(".");
    const problem = isBeyondStrict(value, column)
      ? undefined
      : cellProblem(value, { ...column, path });
    if (problem !== undefined) problems[path] = problem;
    objectAt(body, column.names.slice(0, -1))[column.names.at(-1) as string] = value;
  }
  if (Object.keys(problems).length > 0) throw badData(problems);
  return body;
}

/** Some spreadsheets write numbers with a comma, so the error message mentions the comma. */
function cellProblem(
  value: unknown,
  column: ImportColumn & { readonly path: string },
): Problem | undefined {
  const problem = typeProblem(value, column);
  const instance = column.field.type?.instance;
  const hasComma = typeof value === "string" && COMMA_NUMBER.test(value);
  if (problem === undefined || !hasComma || !DECIMALS.has(instance)) return problem;
  return { ...problem, message: `${problem.message}, with a dot and without a comma` };
}

/** An export writes empty values of these types with quotes, and missing values without. */
const EMPTY: ReadonlySet<unknown> = new Set(["String", "Buffer"]);
const NUMBERS: ReadonlySet<unknown> = new Set(["Number", "Double", "Int32"]);
const DECIMALS: ReadonlySet<unknown> = new Set(["Number", "Double", "Decimal128"]);
const COMMA_NUMBER = /^[+-]?\d[\d.]*,\d/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

function valueOf({ text, isQuoted }: Cell, { field: { type } }: ImportColumn): unknown {
  const instance = type?.instance;
  if (text === "") return isQuoted && EMPTY.has(instance) ? "" : undefined;
  const value = unmarkFormula(text);
  if (NUMBERS.has(instance) && NUMBER.test(value) && !mayBeRounded(Number(value))) {
    return Number(value);
  }
  // Spreadsheets write `TRUE` and `FALSE`.
  if (instance === "Boolean") return BOOLEANS[value.toLowerCase()] ?? value;
  return instance === "UUID" ? value.toLowerCase() : value;
}

/** Accepts six-digit years and large integers, which an export writes, but a strict JSON body must not have. */
function isBeyondStrict(value: unknown, { field: { type } }: ImportColumn): boolean {
  const instance = type?.instance;
  if (typeof value !== "string") return false;
  if (instance === "Date") return /^[+-]\d{6}-\d{2}-\d{2}(T|$)/.test(value);
  return NUMBERS.has(instance) && NUMBER.test(value) && !isLostInteger(value);
}

function objectAt(root: Values, names: readonly string[]): Values {
  let at = root;
  for (const name of names) {
    if (!Object.hasOwn(at, name)) at[name] = {};
    at = at[name] as Values;
  }
  return at;
}
