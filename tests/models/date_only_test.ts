import { assert, assertEquals, assertThrows } from "@std/assert";
import { connect } from "@mongrove/mongrove/client";
import {
  action,
  all,
  arrayProp,
  create,
  type DateOnly,
  define,
  Framework,
  FrameworkModel,
  getModel,
  one,
  onlyIf,
  prop,
  type Ref,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { openLive } from "../features/live/live.ts";
import { readPages } from "../features/page/links.ts";
import { test } from "../harness/testing.ts";
import { documentOf } from "../support/documented.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { onlyStrict } from "../support/only_strict.ts";
import { asQuery, type EntityBody, type ErrorBody } from "../support/support.ts";

class Stay extends FrameworkModel {
  @prop({ type: Date, dateOnly: true })
  from?: DateOnly;
  @arrayProp({ items: Date, dateOnly: true })
  visits?: DateOnly[];
}

const same = (_req: unknown, patient: Patient) => patient;
const stayOf = action("stay", {
  on: "one",
  answer: Stay,
  body: Stay,
  run: (_req, _patient: Patient, body) => body,
});

@rest({
  route: "/patients",
  history: true,
  methods: [
    all<Patient>({
      sort: ["born"],
      distinct: ["born"],
      groups: { by: ["born"], count: true },
      formats: ["csv", "ndjson"],
      live: true,
      page: { size: 2, max: 9 },
    }),
    one(),
    create({ many: 10, atomic: false, formats: ["csv", "ndjson"] }),
    update(),
    replace(),
    stayOf,
  ],
})
@rest({
  route: "/hooked",
  methods: [
    all<Patient>({ postFetch: same, sort: ["born"], page: { size: 2, max: 9 } }),
    one<Patient>({ postFetch: same }),
    create<Patient>({ preSave: same }),
    update<Patient>({ preSave: same }),
  ],
})
@rest({ route: "/named", methods: [one<Patient>({ postFetch: onlyIf(["born"], () => true) })] })
@rest({ route: "/spread", methods: [one<Patient>({ preSend: (_req, each) => ({ ...each }) })] })
@rest({
  route: "/json",
  methods: [one<Patient>({ preSend: (_req, each) => JSON.parse(JSON.stringify(each)) })],
})
@rest({
  route: "/now",
  methods: [update<Patient>({
    preSave: (_req, patient) => {
      patient.born = new Date("2001-02-03T23:59:59Z");
      patient.shots?.push(new Date("2001-02-03T04:05:06Z"));
      return patient;
    },
  })],
})
class Patient extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Date, dateOnly: true, min: new Date("0001-01-01") })
  born?: DateOnly;
  @arrayProp({ items: Date, dateOnly: true })
  shots?: DateOnly[];
  @prop({ type: Map, of: Date, dateOnly: true })
  tests?: Map<string, DateOnly>;
  @prop({ type: Stay })
  stay?: Stay;
  @arrayProp({ items: Stay, embedded: true })
  @rest({ methods: [all(), one(), create(), update()] })
  stays?: Stay[];
  @prop({ type: Date, dateOnly: true, default: () => new Date("2020-02-29T13:00:00Z") })
  since?: DateOnly;
  @prop({ type: Date, dateOnly: true, default: new Date("2019-01-01") })
  until?: DateOnly;
}

const DAYS = {
  born: "1980-05-04",
  shots: ["2020-01-01", "0099-12-31"],
  tests: { a: "2021-03-01" },
  stay: { from: "2022-01-02", visits: ["2022-01-03"] },
};

const serve = () => mountOnReplicaSet([Patient], { batch: { path: "/batch", max: 9 } });

/** The days of an entity, in the form of a body. */
function daysOf({ born, shots, tests, stay }: Record<string, unknown>) {
  const { from, visits } = stay as Record<string, unknown>;
  return { born, shots, tests, stay: { from, visits } };
}

for (const route of ["/patients", "/hooked"]) {
  test(`${route} stores midnight and shows the day to all kinds of readers`, async () => {
    await using app = await serve();
    const made = await app.created(route, DAYS);
    assertEquals(daysOf(made), DAYS);
    assertEquals([made.since, made.until], ["2020-02-29", "2019-01-01"]);
    const stored = await getModel(Patient).collection.findOne();
    assertEquals(
      [stored?.born, stored?.shots[1], stored?.tests.a, stored?.stay.from, stored?.since],
      ["1980-05-04", "0099-12-31", "2021-03-01", "2022-01-02", "2020-02-29"]
        .map((day) => new Date(day)),
    );
    for (const path of ["/patients", "/hooked", "/named", "/spread", "/json"]) {
      const one = await app.read(`${path}/${made._id}`);
      assertEquals([path, daysOf(one), one.until], [path, DAYS, "2019-01-01"]);
    }
    const changed = await app.updated(`${route}/${made._id}`, { ...DAYS, born: "2024-02-29" });
    assertEquals(daysOf(changed), { ...DAYS, born: "2024-02-29" });
    const [first] = await app.read<EntityBody[]>(route);
    assertEquals(first, changed);
  });

  test(`${route} refuses what is no day, and names the field`, async () => {
    await using app = await serve();
    for (
      const [path, body] of [
        ...["1980-05-04T00:00:00.000Z", "1980-05-04T10:00:00Z", "2023-02-30", "-000000-01-01"]
          .map((born) => ["born", { born }]),
        ...[0, true, 86_400_000, "4 May 1980", "1980-05-4", " 1980-05-04", { $date: 0 }]
          .map((born) => ["born", { born }]),
        ["shots.1", { shots: ["2020-01-01", "2020-01-01T10:00:00Z"] }],
        ["tests.a", { tests: { a: "2020-01-01T10:00:00Z" } }],
        ["stay.from", { stay: { from: "2020-01-01T10:00:00Z" } }],
        ["stay.visits.0", { stay: { visits: [1] } }],
      ] as const
    ) {
      const { status, body: problem } = await app.post<ErrorBody>(route, body);
      const named = [status, Object.keys(problem.errors ?? {}), JSON.stringify(body)];
      assertEquals(named, [400, [path], JSON.stringify(body)]);
    }
    const empty = await app.created(route, { born: "" });
    assertEquals(empty.born, null);
  });
}

test("strict bodies take and send back days", async () => {
  await using app = await mountOnReplicaSet([Patient], { strict: onlyStrict("bodies") });
  const made = await app.created("/patients", DAYS);
  const { status, body } = await app.put(`/patients/${made._id}`, made);
  assertEquals([status, daysOf(body)], [200, DAYS]);
  for (const born of ["1980-05-04T00:00:00Z", "2023-02-30", ""]) {
    const { status, body } = await app.post<ErrorBody>("/patients", { born });
    assertEquals([status, body.errors?.born?.kind], [400, "DateOnly"], born);
    assert(body.errors?.born?.message.includes("such as 2026-01-31"));
  }
});

test("hooks may set times, of which the day is stored", async () => {
  await using app = await serve();
  const { _id } = await app.created("/patients", DAYS);
  const { born, shots } = await app.updated(`/now/${_id}`, {});
  assertEquals([born, (shots as string[]).at(-1)], ["2001-02-03", "2001-02-03"]);
  const stored = await getModel(Patient).collection.findOne();
  assertEquals([stored?.born, stored?.shots.at(-1)], Array(2).fill(new Date("2001-02-03")));
});

test("a stored time of another program is shown as its day, and can be changed", async () => {
  await using app = await serve();
  const { _id } = await app.created("/patients", DAYS);
  const time = new Date("1970-01-01T23:59:59.999Z");
  const early = new Date("0000-01-02T13:00:00Z");
  const times = { born: time, shots: [early], "tests.a": time, "stay.from": time };
  await getModel(Patient).collection.updateOne({}, { $set: times });
  const shown = {
    born: "1970-01-01",
    shots: ["0000-01-02"],
    tests: { a: "1970-01-01" },
    stay: { from: "1970-01-01", visits: ["2022-01-03"] },
  };
  for (const path of ["/patients", "/hooked", "/named", "/spread", "/json"]) {
    assertEquals([path, daysOf(await app.read(`${path}/${_id}`))], [path, shown]);
  }
  for (const path of ["/patients", "/hooked"]) {
    assertEquals((await app.updated(`${path}/${_id}`, { name: path })).born, "1970-01-01");
  }
  assertEquals((await app.read("/patients?distinct=born")) as unknown, ["1970-01-01"]);
  assertEquals((await getModel(Patient).collection.findOne())?.born, time);
  assertEquals(await getModel(Patient).countDocuments({ born: time }), 1);
  assertEquals((await getModel(Patient).findOne())?.born as Date | undefined, time);
});

test("filters say days", async () => {
  await using app = await serve();
  const days = ["1980-05-04", "1980-05-05", "1999-12-31", "2000-01-01", "1980-05-04"];
  for (const born of days) await app.created("/patients", { ...DAYS, born });
  for (
    const [q, count] of [
      [{ born: "1980-05-04" }, 2],
      [{ born: { $gt: "1980-05-04" } }, 3],
      [{ born: { $gte: "1980-05-04", $lt: "1980-05-06" } }, 3],
      [{ born: { $in: ["1999-12-31", "2000-01-01", null] } }, 2],
      [{ born: { $date: "1999-12-31" } }, 1],
      [{ shots: "2020-01-01" }, 5],
      [{ shots: { $all: ["0099-12-31"] } }, 5],
      [{ "tests.a": "2021-03-01" }, 5],
      [{ "stay.visits": { $ne: "2022-01-03" } }, 0],
    ] as const
  ) {
    const found = await app.read<EntityBody[]>(`/patients${asQuery(q)}&limit=9`);
    assertEquals([q, found.length], [q, count]);
  }
});

test("filters refuse what is no day", async () => {
  await using app = await serve();
  for (const born of ["1980-05-04T00:00:00Z", "2023-02-30", 0, { $date: "1980-05-04T01:00:00Z" }]) {
    const { status, body } = await app.get<ErrorBody>(`/patients${asQuery({ born })}`);
    assertEquals([status, body.message], [400, 'Value at "born" cannot be read as DateOnly']);
  }
});

test("orders, pages, distinct values and groups say days", async () => {
  await using app = await serve();
  const days = ["1980-05-04", "1980-05-05", "1999-12-31", "2000-01-01"];
  for (const born of [...days, days[0]]) await app.created("/patients", { ...DAYS, born });
  for (const route of ["/patients", "/hooked"]) {
    const pages = await readPages(app, `${route}?sort=-born`);
    const walked = pages.flatMap(({ body }) => (body as EntityBody[]).map(({ born }) => born));
    assertEquals(walked, [...days.toReversed(), days[0]], route);
  }
  assertEquals(await app.read<unknown>("/patients?distinct=born"), days);
  const groups = await app.read<EntityBody[]>("/patients?group=born&sort=-born");
  assertEquals(groups.map(({ born }) => born), days.toReversed());
  assertEquals(groups.at(-1)?.count, 2);
});

test("groups by month take a day for the same day in every zone", async () => {
  @rest({
    route: "/birthdays",
    methods: [
      all({ groups: { by: [{ day: "month" }], count: true, timeZone: "America/New_York" } }),
    ],
  })
  class Birthday extends FrameworkModel {
    @prop({ type: Date, dateOnly: true })
    day?: DateOnly;
  }
  await using app = await mountOnReplicaSet([Birthday]);
  await getModel(Birthday).create({ day: new Date("1980-05-01") });
  assertEquals(await app.read<unknown>("/birthdays?group=day"), [{ day: "1980-05", count: 1 }]);
});

test("tables and lines have days, both ways", async () => {
  await using app = await serve();
  await app.created("/patients", { name: "a", ...DAYS });
  for (const type of ["text/csv", "application/x-ndjson"]) {
    const raw = await (await fetch(`${app.url}/patients`, { headers: { accept: type } })).text();
    assert(raw.includes("1980-05-04") && !raw.includes("T00:00"), raw);
    const headers = { "content-type": type };
    const sent = await app.send("POST", "/patients", { raw, headers });
    const times = raw.replaceAll("1980-05-04", "1980-05-04T00:00:00Z");
    const refused = await app.send("POST", "/patients", { raw: times, headers });
    assertEquals([sent.status, refused.status], [207, 207]);
    assert(sent.text.includes('"status":201'), sent.text);
    assert(/"born".*"status":400/.test(refused.text), refused.text);
  }
  const found = await app.read<EntityBody[]>("/patients?limit=9");
  assertEquals(found.map(({ born }) => born), Array(4).fill("1980-05-04"));
});

test("history, reverts, batches, actions and parts have days", async () => {
  await using app = await serve();
  const { _id } = await app.created("/patients", DAYS);
  await app.updated(`/patients/${_id}`, { born: "1981-01-01", shots: [] });
  const [record] = await app.read<{ before: object }[]>(`/patients/${_id}/history`);
  assertEquals(record?.before, { born: DAYS.born, shots: DAYS.shots });
  const reverted = await app.post(`/patients/${_id}/revert`, { version: 0 });
  assertEquals(daysOf(reverted.body), DAYS);
  const batch = await app.post("/batch", {
    requests: [{
      id: "a",
      method: "PATCH",
      path: `/patients/${_id}`,
      body: { born: "1982-01-01" },
    }],
  });
  assert(batch.text.includes('"born":"1982-01-01"'), batch.text);
  const answered = await app.post<unknown>(`/patients/${_id}/stay`, DAYS.stay);
  assertEquals(answered.body, DAYS.stay);
  const refused = await app.post<ErrorBody>(`/patients/${_id}/stay`, { from: "1980-05-04T10:00Z" });
  assertEquals([refused.status, Object.keys(refused.body.errors ?? {})], [400, ["from"]]);
  const part = await app.created(`/patients/${_id}/stays`, DAYS.stay);
  const path = `/patients/${_id}/stays/${part._id}`;
  assertEquals((await app.updated(path, { from: "2030-01-01" })).from, "2030-01-01");
  assertEquals((await app.read(path)).visits, DAYS.stay.visits);
  assertEquals((await app.patch(path, { from: "2030-02-30" })).status, 400);
});

@rest({
  route: "/visits",
  methods: [
    all<Visit>({ populate: { patient: true }, filter: ["patient.born", "day"] }),
    one<Visit>({ populate: { patient: true } }),
    create(),
    replace<Visit>({ by: "day" }),
    updateAll<Visit>({ fields: ["checked"] }),
  ],
})
class Visit extends FrameworkModel {
  @prop({ type: Date, dateOnly: true, unique: true })
  day?: DateOnly;
  @prop({ type: Date, dateOnly: true })
  checked?: DateOnly;
  @prop({ ref: () => Patient, unguarded: true })
  patient?: Ref<Patient>;
}

test("references, keys in paths and changes of many have days", async () => {
  await using app = await mountOnReplicaSet([Patient, Visit]);
  await getModel(Visit).init();
  const patient = (await app.created("/patients", DAYS))._id;
  const { status, body } = await app.put("/visits/2024-02-29", { patient });
  assertEquals([status, body.day], [201, "2024-02-29"]);
  for (const day of ["2024-02-30", "2024-02-29T00:00:00Z", "2024-2-29"]) {
    assertEquals((await app.put(`/visits/${day}`, { patient })).status, 404, day);
  }
  const q = asQuery({ "patient.born": { $lt: "1980-05-05" }, day: "2024-02-29" });
  const [visit] = await app.read<{ patient: object }[]>(`/visits${q}&populate=patient`);
  assertEquals(daysOf({ ...visit?.patient }), DAYS);
  const late = asQuery({ "patient.born": { $lt: "1980-05-04" } });
  assertEquals(await app.read<unknown>(`/visits${late}`), []);
  const day = asQuery({ day: "2024-02-29" });
  assertEquals((await app.patch(`/visits${day}`, { checked: "2024-03-01T00:00Z" })).status, 400);
  await app.updated(`/visits${day}`, { checked: "2024-03-01" });
  assertEquals((await app.read(`/visits/${body._id}`)).checked, "2024-03-01");
});

test("live lists have days", async () => {
  await using app = await serve();
  await using live = await openLive(`${app.url}/patients`);
  await live.ready();
  await app.created("/patients", DAYS);
  await live.came(2);
  assertEquals(live.items.map((each) => daysOf(each)), [DAYS]);
});

test("the client sends days as texts", async () => {
  await using app = await serve();
  const patients = connect(app.url).resource<Patient>("/patients");
  const made = await patients.create({ born: "1980-05-04", tests: { a: "2020-01-01" } });
  const born: string | null | undefined = made.born;
  assertEquals(born, "1980-05-04");
  const found = await patients.all({ q: { born: { $lte: "1980-05-04" } } });
  assertEquals(found.items.length, 1);
  const day = new Date("1980-05-04");
  // @ts-expect-error: a `Date` has a time
  const body: Parameters<typeof patients.create>[0] = { born: day };
  // @ts-expect-error: a `Date` has a time
  const list: Parameters<typeof patients.update>[1] = { shots: [day] };
  // @ts-expect-error: a `Date` has a time
  const query: Parameters<typeof patients.all>[0] = { q: { born: { $gt: day } } };
  assertEquals([body, list, query].length, 3);
});

test("descriptions say the format", async () => {
  const [route] = Framework.describe({ models: [Patient] });
  const named = (name: string) => route?.answer?.find((each) => each.name === name);
  assertEquals([named("born")?.type, named("born")?.format], ["Date", "date"]);
  assertEquals(named("shots")?.items, { type: "Date", format: "date", nullable: true });
  const path = route?.filter?.fields.find((each) => each.path === "born");
  assertEquals([path?.type, path?.format], ["Date", "date"]);
  const { schemas } = await documentOf([Patient]);
  const { properties } = schemas.Patient as { properties: Record<string, unknown> };
  const day = { anyOf: [{ type: "string", format: "date" }, { type: "null" }] };
  assertEquals(properties.until, day);
});

test("the first and the last day of a range are valid", async () => {
  const noon = new Date("2020-01-02T12:00:00Z");
  // The days of both are one, although the times leave none
  const range = { dateOnly: true, min: noon, max: new Date("2020-01-02T11:00:00Z") } as const;
  @rest({ route: "/ranges", methods: [create()] })
  class Range extends FrameworkModel {
    @prop({ ...range, type: Date })
    day?: DateOnly;
    @prop({ ...range, type: Date, min: [noon, "too early"] })
    told?: DateOnly;
    @prop({ ...range, type: Date, min: (() => noon) as never })
    asked?: DateOnly;
    @arrayProp({ ...range, items: Date })
    days?: DateOnly[];
  }
  await using app = await mountOnReplicaSet([Range]);
  const bodiesOf = (day: string) => [{ day }, { told: day }, { asked: day }, { days: [day] }];
  for (const [day, status] of [["2020-01-01", 400], ["2020-01-02", 201], ["2020-01-03", 400]]) {
    for (const body of bodiesOf(String(day))) {
      assertEquals([body, (await app.post("/ranges", body)).status], [body, status]);
    }
  }
});

test("only a Date has dateOnly", () => {
  for (
    const field of [
      { dateOnly: true },
      { type: Number, dateOnly: true },
      { type: Map, of: String, dateOnly: true },
      { items: String, dateOnly: true },
      { type: Stay, dateOnly: true },
    ]
  ) {
    class Wrong extends FrameworkModel {
      declare at?: unknown;
    }
    define(Wrong, {
      fields: { at: field as never },
      rest: { route: "/wrong", methods: [all()] },
    });
    assertThrows(
      () => Framework.initialize({ models: [Wrong] }),
      TypeError,
      'property "at" has "dateOnly", which only a Date can have',
    );
  }
});
