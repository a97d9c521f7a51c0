import { assertEquals, assertThrows } from "@std/assert";
import { all, Framework, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountDocumented } from "../../support/documented.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

const ZONES = [
  ...["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"],
  ...["America/St_Johns", "Pacific/Apia", "+05:30"],
];

const BY = [{ at: "month", day: "day", year: "year" }] as const;

function isNoBoss(req: FrameworkRequest): boolean {
  return req.get("x-role") !== "boss";
}

@rest({
  route: "/visits",
  methods: [all({ groups: { by: [...BY, "note"], count: true, timeZone: ZONES } })],
})
@rest({
  route: "/in-paris",
  methods: [all({ groups: { by: BY, timeZone: "Europe/Paris" } })],
})
@rest({ route: "/in-utc", methods: [all({ groups: { by: BY } })] })
@rest({
  route: "/private",
  methods: [all({ groups: { by: ["note", { secret: "day" }], timeZone: ZONES } })],
})
class Visit extends FrameworkModel {
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Date })
  day?: Date;
  @prop({ type: Date })
  year?: Date;
  @prop()
  note?: string;
  @prop({ type: Date, hidden: isNoBoss })
  secret?: Date;
}

interface DayGroup {
  readonly day: string | null;
  readonly count: number;
}

async function storeVisits(dates: readonly Date[]): Promise<void> {
  await getModel(Visit).insertMany(dates.map((at) => ({ at, day: at, year: at })));
}

const QUARTER_MS = 15 * 60_000;

/** Returns the times at each quarter of an hour in the four days around a day. */
function quartersAround(day: string): Date[] {
  const start = Date.parse(day) - 48 * 3_600_000;
  return Array.from({ length: 4 * 96 }, (_, index) => new Date(start + index * QUARTER_MS));
}

/** Returns the number of times for each day of a time zone, as `Temporal` computes the days. */
function countByDay(times: readonly Date[], zone: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const time of times) {
    const zoned = Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(zone);
    const day = String(zoned.toPlainDate());
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return counts;
}

test("groups have the days of each time zone, over the changes of summer time", async () => {
  await using app = await mount([Visit]);
  const times = ["2024-03-10", "2024-03-31", "2024-04-07", "2024-10-06", "2024-10-27", "2024-11-03"]
    .concat("2011-12-30", "1999-12-31", "2050-03-27")
    .flatMap(quartersAround);
  await storeVisits(times);
  for (const zone of ZONES) {
    const tz = encodeURIComponent(zone);
    const groups = await app.read<DayGroup[]>(`/visits?group=day&tz=${tz}`);
    const told = Object.fromEntries(groups.map(({ day, count }) => [day, count]));
    assertEquals([zone, told], [zone, Object.fromEntries(countByDay(times, zone))]);
  }
});

test("groups of months and years begin at midnight of the time zone", async () => {
  await using app = await mount([Visit]);
  await storeVisits([new Date("2023-12-31T22:59:59.999Z"), new Date("2023-12-31T23:00:00.000Z")]);
  const paris = [{ at: "2023-12", year: "2023" }, { at: "2024-01", year: "2024" }];
  assertEquals(await app.read<unknown>("/in-paris?group=at,year"), paris);
  const counted = paris.map((group) => ({ ...group, count: 1 }));
  assertEquals(await app.read<unknown>("/visits?group=at,year"), counted);
  assertEquals(await app.read<unknown>("/visits?group=at,year&tz=Europe/Paris"), counted);
  const utc = [{ at: "2023-12", year: "2023" }];
  assertEquals(await app.read<unknown>("/in-utc?group=at,year"), utc);
  const newYork = await app.read<unknown>("/visits?group=at,year&tz=America/New_York");
  assertEquals(newYork, [{ ...utc[0], count: 2 }]);
});

test("groups in a time zone have null for dates before the year 1 and after 9999", async () => {
  await using app = await mount([Visit]);
  await getModel(Visit).collection.insertMany([
    "0001-01-01T00:00:00.000Z",
    "0000-12-31T23:58:00.000Z",
    "9999-12-31T22:30:00.000Z",
    "9999-12-31T23:30:00.000Z",
    "-271821-04-20T00:00:00.000Z",
    "+275760-09-13T00:00:00.000Z",
  ].map((text) => ({ at: new Date(text), day: new Date(text) })));
  await getModel(Visit).collection.insertOne({ at: "text", day: 5 });
  await getModel(Visit).collection.insertOne({ at: [new Date()], day: { a: new Date() } });
  assertEquals(await app.read<unknown>("/visits?group=day"), [
    { day: null, count: 4 },
    { day: "0001-01-01", count: 2 },
    { day: "9999-12-31", count: 1 },
  ]);
  assertEquals(await app.read<unknown>("/in-utc?group=day"), [
    { day: null },
    { day: "0001-01-01" },
    { day: "9999-12-31" },
  ]);
});

const REFUSED: [path: string, message: string][] = [
  [
    "/visits?group=day&tz=Europe/Rome",
    `Parameter "tz" takes one time zone out of ${ZONES.join(", ")}`,
  ],
  ["/visits?group=day&tz=", `Parameter "tz" takes one time zone out of ${ZONES.join(", ")}`],
  ["/visits?group=day&tz=UTC&tz=UTC", 'Parameter "tz" takes one value'],
  ["/visits?group=day&tz[$ne]=UTC", 'Parameter "tz" takes one value'],
  ["/visits?tz=Europe/Paris", 'Parameter "tz" is not allowed'],
  ["/in-paris?group=day&tz=Europe/Paris", 'Parameter "tz" is not allowed'],
  ["/in-utc?group=day&tz=UTC", 'Parameter "tz" is not allowed'],
  ["/private?group=note&tz=Europe/Paris", 'Parameter "tz" is not allowed'],
];

for (const [path, message] of REFUSED) {
  test(`groups refuse the time zone of ${path}`, async () => {
    await using app = await mount([Visit]);
    const { status, body } = await app.get<ErrorBody>(path);
    assertEquals([status, body.message], [400, message]);
  });
}

test("groups take the time zone of a date that only some readers see", async () => {
  await using app = await mount([Visit]);
  await getModel(Visit).create({ secret: new Date("2024-06-30T22:30:00Z") });
  const boss = { headers: { "x-role": "boss" } };
  const read = (tz: string) => app.read<unknown>(`/private?group=secret&tz=${tz}`, boss);
  assertEquals(await read("Europe/Paris"), [{ secret: "2024-07-01" }]);
  assertEquals(await read("America/New_York"), [{ secret: "2024-06-30" }]);
});

test("the document and describe() tell of the time zones of groups", async () => {
  await using app = await mountDocumented([Visit]);
  const parameterOf = (path: string) =>
    app.operation("GET", path).parameters?.find(({ name }) => name === "tz");
  assertEquals(parameterOf("/visits") as object, {
    name: "tz",
    in: "query",
    required: false,
    description: "The time zone of the years, months and days of groups.",
    schema: { type: "string", enum: ZONES, default: "Europe/Paris" },
  });
  assertEquals(parameterOf("/in-paris"), undefined);
  const zones = Framework.describe({ models: [Visit] })
    .map(({ path, groups }) => [path, groups?.timeZone]);
  assertEquals(Object.fromEntries(zones), {
    "/visits": ZONES,
    "/in-paris": "Europe/Paris",
    "/in-utc": "UTC",
    "/private": ZONES,
  });
});

const WRONG: [timeZone: unknown, problem: string][] = [
  ["Mars/Olympus", '"Mars/Olympus" in "groups.timeZone", which is no time zone such as'],
  ["europe/paris", '"europe/paris" in "groups.timeZone", which is no time zone such as'],
  ["", '"" in "groups.timeZone", which is no time zone such as'],
  [["Europe/Paris", 5], '5 in "groups.timeZone", which is no time zone such as'],
  [true, 'true in "groups.timeZone", which is no time zone such as'],
  [null, 'null in "groups.timeZone", which is no time zone such as'],
  [[], 'needs a time zone in "groups.timeZone"'],
];

function mountZone(groups: unknown): void {
  @rest({ route: "/days", methods: [all({ groups: groups as never })] })
  class Day extends FrameworkModel {
    @prop({ type: Date })
    at?: Date;
    @prop()
    note?: string;
  }
  Framework.initialize({ models: [Day] });
}

for (const [timeZone, problem] of WRONG) {
  test(`groups with the time zone ${JSON.stringify(timeZone)} fail the start`, () => {
    assertThrows(() => mountZone({ by: [{ at: "day" }], timeZone }), TypeError, problem);
  });
}

test("groups with a time zone and no part of a date fail the start", () => {
  assertThrows(
    () => mountZone({ by: ["at", "note"], timeZone: "Europe/Paris" }),
    TypeError,
    'Cannot mount "Day": all() has "groups.timeZone", but no year, month or day in "groups.by"',
  );
});
