import { assertEquals } from "@std/assert";
import { Schema, Types } from "mongoose";
import { all, create, FrameworkModel, getModel, one, prop, type Ref, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount, type Mounted } from "../../support/support.ts";
import { importTable, sendTable } from "./csv.ts";

@rest({
  route: "/cells",
  methods: [
    all({ formats: ["csv"], sort: ["_id"] }),
    create({ many: 10, atomic: false, formats: ["csv"] }),
  ],
})
class SheetCells extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ type: Boolean })
  open?: boolean;
  @prop({ type: Date })
  at?: Date;
  @prop()
  note?: string;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Schema.Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ ref: "SheetOwner" })
  owner?: Ref<SheetOwner>;
}

@rest({ route: "/sheet-owners", methods: [one()] })
class SheetOwner extends FrameworkModel {}

/**
 * Reads a table that LibreOffice 7.4 has saved. All tables are of one sheet, with other settings, except `exported`, which
 * is a list, and `exported_and_saved…`, which LibreOffice has made of this list.
 */
function readTable(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return Deno.readFile(new URL(`tables/${name}.csv`, import.meta.url));
}

/** Gives what is stored, as JSON, in the order of the rows. */
async function stored(app: Mounted): Promise<Record<string, unknown>[]> {
  const cells = await app.read<Record<string, unknown>[]>("/cells?sort=_id");
  return cells.map(({ _id, __v, ...values }) => values);
}

/** Imports a table; gives the fate of each row, as its messages or its status. */
async function importRows(app: Mounted, raw: Uint8Array<ArrayBuffer>) {
  const fates = await importTable(app, "/cells", { raw });
  return fates.map(({ line, status, message, errors }) => {
    const problems = Object.values(errors ?? {}).map((each) => Object(each).message);
    return [line, ...problems.length > 0 ? problems : [status === 201 ? status : message]];
  });
}

const open = () => mount([SheetCells, SheetOwner]);

const NO_DATE = 'Value at "at" cannot be read as Date: send a date such as 2026-01-31, or a time ' +
  "with its offset such as 2026-01-31T10:00:00Z";
const NO_BOOLEAN = 'Value at "open" cannot be read as Boolean: send true or false';
const NO_NUMBER =
  'Value at "rank" cannot be read as Number: send a number, with a dot and without a comma';

/** The rows of the sheet whose cells need no format of times. */
const TAKEN: readonly Record<string, unknown>[] = [
  {
    name: 'Müller, "Möbel" & Söhne',
    rank: 1.5,
    open: true,
    at: "2026-01-31T00:00:00.000Z",
    note: "first line\nsecond line",
  },
  {
    name: "=1+1",
    rank: 1234567.891,
    open: false,
    at: "2026-02-01T00:00:00.000Z",
    note: "+49 30 123",
  },
  { name: "-5", rank: -5, note: "@x" },
  { name: "'quoted" },
];

test("an import takes the table iso_times of LibreOffice", async () => {
  await using app = await open();
  const fates = [2, 4, 5, 6, 7].map((line) => [line, 201]);
  assertEquals(await importRows(app, await readTable("iso_times")), fates);
  const time = { rank: 12345678, at: "2026-02-01T10:30:00.000Z", note: "it's; 'so'" };
  assertEquals(await stored(app), TAKEN.toSpliced(3, 0, { name: "007", ...time }));
});

for (const name of ["iso_dates", "quoted_texts"]) {
  test(`an import takes the table ${name} of LibreOffice, but for a time without an offset`, async () => {
    await using app = await open();
    const fates = [[2, 201], [4, 201], [5, 201], [6, NO_DATE], [7, 201]];
    assertEquals(await importRows(app, await readTable(name)), fates);
    assertEquals(await stored(app), TAKEN);
  });
}

test("an import takes a table with a mark of UTF-8 and line breaks of Windows", async () => {
  await using app = await open();
  const text = new TextDecoder().decode(await readTable("iso_dates"));
  const raw = new TextEncoder().encode(`\ufeff${text.replaceAll(/\n(?!second)/g, "\r\n")}`);
  await importRows(app, raw);
  assertEquals(await stored(app), TAKEN);
});

const NO_UTF_8 = "The row is not UTF-8: save the table in this encoding";

const REFUSED_ROWS: Record<string, unknown[]> = {
  "default_english": [[2, NO_DATE], [4, NO_DATE], [5, 201], [6, NO_DATE], [7, 201]],
  "default_german": [
    [2, NO_NUMBER, NO_BOOLEAN, NO_DATE],
    [4, NO_NUMBER, NO_BOOLEAN, NO_DATE],
    [5, 201],
    [6, NO_DATE],
    [7, 201],
  ],
  windows1252: [[2, NO_UTF_8], [4, 201], [5, 201], [6, NO_DATE], [7, 201]],
};

for (const [name, fates] of Object.entries(REFUSED_ROWS)) {
  test(`an import tells what is wrong with rows of the table ${name} of LibreOffice`, async () => {
    await using app = await open();
    assertEquals(await importRows(app, await readTable(name)), fates);
  });
}

const NO_COMMA = "is unknown: commas must separate the columns";

const REFUSED_TABLES = {
  semicolons: `Column "name;rank;open;at;note" ${NO_COMMA}`,
  tabs: `Column "name\trank\topen\tat\tnote" ${NO_COMMA}`,
  utf16: NO_UTF_8,
};

for (const [name, message] of Object.entries(REFUSED_TABLES)) {
  test(`an import refuses the table ${name} of LibreOffice, and stores nothing`, async () => {
    await using app = await open();
    const { status, body } = await sendTable(app, "/cells", { raw: await readTable(name) });
    assertEquals([status, body.code, body.message], [400, "BAD_FORMAT", message]);
    assertEquals(await stored(app), []);
  });
}

/** The entities of the table `exported`. */
const EXPORTED = [
  { name: "007", rank: 1.5, open: true, at: new Date("2026-01-31T10:20:30.456Z"), note: "1e5" },
  { name: "12345678901234567890", rank: 1 / 3, note: "+49 30 123" },
  { name: "=1+1", at: new Date("2026-01-31"), big: 9007199254740991n },
  { name: "a\r\nb", price: Types.Decimal128.fromString("0.10"), note: "" },
  { name: "digits", owner: new Types.ObjectId("123456789012345678901234") },
];

async function exportTable(app: Mounted): Promise<string> {
  const cells = EXPORTED.map((each, index) => ({
    _id: new Types.ObjectId(`6a5f1c2a9b1e8a0012a4d00${index}`),
    ...each,
    __v: 0,
  }));
  await getModel(SheetCells).collection.insertMany(cells as never);
  const headers = { accept: "text/csv" };
  return (await app.send("GET", "/cells?sort=_id", { headers })).text;
}

test("LibreOffice keeps the values of a list if it opens all columns as text", async () => {
  await using app = await open();
  assertEquals(await exportTable(app), new TextDecoder().decode(await readTable("exported")));
  const before = await stored(app);
  await getModel(SheetCells).deleteMany({});
  await importRows(app, await readTable("exported_and_saved_as_text"));
  // The program has no `""`, and no CR in a cell.
  const { note: _, ...fourth } = before[3] ?? {};
  assertEquals(await stored(app), before.with(3, { ...fourth, name: "a\nb" }));
});

test("LibreOffice changes texts that look like numbers, and numbers of more than 15 digits", async () => {
  await using app = await open();
  await exportTable(app);
  const [first, second, third] = await stored(app);
  await getModel(SheetCells).deleteMany({});
  const noId =
    'Value at "owner" cannot be read as ObjectId: send 24 digits of lower-case hexadecimal';
  const fates = await importRows(app, await readTable("exported_and_saved"));
  assertEquals(fates, [[2, 201], [3, 201], [4, 201], [5, 201], [7, noId]]);
  assertEquals(await stored(app), [
    { ...first, name: "7", note: "100000" },
    { ...second, name: "1.23456789012346E+019", rank: 0.333333333333333 },
    { ...third },
    { name: "a\nb", price: "0.1" },
  ]);
});
