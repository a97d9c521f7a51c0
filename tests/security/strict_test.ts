import { assertEquals, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  action,
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type InitializeOptions,
  type ModelClass,
  one,
  onlyIf,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  StoredFile,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { onlyStrict } from "../support/only_strict.ts";
import { asQuery, mount } from "../support/support.ts";

const isStaff = (req: FrameworkRequest) => req.headers["x-role"] !== undefined;
const isDoctor = (req: FrameworkRequest) => req.headers["x-role"] === "doctor";
const isAdmin = (req: FrameworkRequest) => req.headers["x-role"] === "admin";

class Dose extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({
  route: "/drugs",
  methods: [one(), create({ preFetch: isAdmin }), update({ preFetch: isAdmin })],
})
class Drug extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({
  route: "/prescriptions",
  methods: [
    all({ page: { max: 10 } }),
    one({ lean: true, postFetch: (_req, entity) => entity }),
    create(),
    update({ preFetch: isDoctor, postFetch: onlyIf((_req, { open }: Prescription) => open) }),
  ],
})
class Prescription extends FrameworkModel {
  @prop({ default: true })
  open!: boolean;
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1000 })
  scan?: StoredFile;
  @rest({ methods: [all({ page: false }), one(), create(), update(), remove()] })
  @arrayProp({ items: Dose, embedded: true })
  doses?: Dose[];
  @rest({ methods: [all({ page: false }), create(), update({ preFetch: isStaff })] })
  @arrayProp({ items: () => Drug })
  drugs?: Ref<Drug>[];
}

const as = (role: string) => ({ headers: { "x-role": role } });
const MODELS = [Prescription, Drug];

/** The statuses of each write below a prescription, by a caller. */
async function writes(app: Awaited<ReturnType<typeof mount>>, role: string) {
  const { _id } = await app.created("/prescriptions", {}, as("assistant"));
  const path = `/prescriptions/${_id}`;
  const send = async (method: string, below: string, body?: object) =>
    (await app.send(method, `${path}${below}`, { body, ...as(role) })).status;
  const upload = async (method: string) => {
    const init = { method, ...method === "PUT" && { body: "x" }, ...as(role) };
    const answer = await fetch(`${app.url}${path}/scan`, init);
    await answer.body?.cancel();
    return answer.status;
  };
  const statuses = [await send("POST", "/doses", { text: "a" }), await upload("PUT")];
  const [dose = { _id: "0123456789abcdef01234567" }] = await app.read<{ _id: string }[]>(
    `${path}/doses`,
    as(role),
  );
  statuses.push(await send("PATCH", `/doses/${dose._id}`, { text: "b" }));
  statuses.push(await send("DELETE", `/doses/${dose._id}`));
  statuses.push(await send("GET", "/doses"));
  return [...statuses, await upload("DELETE")];
}

test("a write below an entity is a change of it, which its update() guards", async () => {
  await using app = await mount(MODELS, { guard: isStaff, strict: true });
  assertEquals(await writes(app, "assistant"), [403, 403, 403, 403, 200, 403]);
  assertEquals(await writes(app, "doctor"), [201, 201, 200, 204, 200, 204]);
  const { _id } = await app.created("/prescriptions", { open: false }, as("doctor"));
  const path = `/prescriptions/${_id}/doses`;
  assertEquals((await app.get(path, as("doctor"))).status, 200);
  assertEquals((await app.post(path, { text: "a" }, as("doctor"))).status, 404);
});

test("without strict guards, the hooks of one() alone guard what lies below", async () => {
  await using app = await mount(MODELS, { guard: isStaff });
  assertEquals(await writes(app, "assistant"), [201, 201, 200, 204, 200, 204]);
});

test("a referenced entity follows its own class", async () => {
  await using app = await mount(MODELS, { guard: isStaff, strict: true });
  const { _id } = await app.created("/prescriptions", {}, as("doctor"));
  const drugs = `/prescriptions/${_id}/drugs`;
  assertEquals((await app.post(drugs, { name: "a" }, as("doctor"))).status, 403);
  const drug = await app.created(drugs, { name: "a" }, as("admin"));
  const path = `${drugs}/${drug._id}`;
  assertEquals((await app.patch(path, { name: "b" }, as("doctor"))).status, 403);
  assertEquals((await app.patch(path, { name: "b" }, as("admin"))).status, 200);
});

/** The lines of the error with which models fail the start. */
function problems(models: readonly ModelClass[], options: InitializeOptions): string[] {
  try {
    Framework.initialize({ ...options, models });
    return [];
  } catch (error) {
    return (error as Error).message.replace(/^Cannot initialize with "strict": /, "").split("\n");
  }
}

const NOBODY_GUARDS = 'nobody guards it: use "guard" of initialize(), "preFetch", or "open: true"';

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({
  route: "/a",
  methods: [
    all({ page: false, open: true }),
    one({ preFetch: isStaff }),
    create(),
    update({ preFetch: isStaff }),
    remove({ preFetch: isDoctor }),
    action("close", { on: "one", run: () => null }),
  ],
  scope: () => ({}),
})
class Whole extends FrameworkModel {
  @rest({ methods: [all({ page: false }), create()] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
}

@rest({ route: "/b", methods: [one({ open: true })] })
class Fixed extends FrameworkModel {
  @rest({ methods: [one(), create(), remove({ preFetch: isStaff }), update({ open: true })] })
  @prop({ type: Part })
  part?: Part;
}

test("strict guards name every operation that nobody guards, at once", () => {
  const strict = onlyStrict("guards");
  assertEquals(problems([Whole, Fixed], { strict }), [
    `POST /a, create() of "Whole": ${NOBODY_GUARDS}`,
    `POST /a/:id/close, close() of "Whole": ${NOBODY_GUARDS}`,
    `GET /b/:id/part, one() of "Part": ${NOBODY_GUARDS}`,
    `POST /b/:id/part, create() of "Part": "Fixed" above it has no update(), so it needs its own "preFetch", or "open: true"`,
  ]);
  assertEquals(problems([Whole, Fixed], { strict, guard: isStaff }), [
    `POST /b/:id/part, create() of "Part": "Fixed" above it has no update(), so it needs its own "preFetch", or "open: true"`,
  ]);
  assertEquals(problems([Whole, Fixed], {}), []);
});

const staff = { preFetch: isStaff };

@rest({ route: "/first", methods: [one(staff), update(staff)] })
@rest({ route: "/second", methods: [one(staff), update({ preFetch: isDoctor })] })
class Twice extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/asked", methods: [one(staff), update({ ...staff, parameters: ["reason"] })] })
class Asked extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/around", methods: [one(staff), create(staff), update(staff)] })
class Around extends FrameworkModel {
  @rest({ methods: [one(), update()] })
  @prop({ ref: Twice })
  twice?: Ref<Twice>;
  @rest({ methods: [one(), action("check", { on: "one", run: () => null })] })
  @prop({ type: Part })
  part?: Part;
}

@rest({ route: "/asking", methods: [one(staff), create(staff), update(staff)] })
class Asking extends FrameworkModel {
  @rest({ methods: [one(), update()] })
  @prop({ ref: Asked })
  asked?: Ref<Asked>;
}

test("an action below an entity needs a hook of its own, and different update() guard nothing", () => {
  assertEquals(problems([Around, Twice], { strict: onlyStrict("guards") }), [
    'PATCH /around/:id/twice, update() of "Twice": "Twice" has several update(), so it needs its own "preFetch", or "open: true"',
    `POST /around/:id/part/check, check() of "Part": ${NOBODY_GUARDS}`,
  ]);
});

test("a write of a referenced entity takes the parameters of the update() that guards it", async () => {
  await using app = await mount([Asking, Asked], { strict: true });
  const asked = await getModel(Asked).create({ text: "a" });
  const { _id } = await app.created("/asking", { asked: String(asked._id) }, as("doctor"));
  const path = `/asking/${_id}/asked`;
  const send = async (query: string) =>
    (await app.patch(`${path}?${query}`, { text: "b" }, as("doctor"))).status;
  assertEquals([await send("reason=1"), await send("other=1")], [200, 400]);
});

test("strict lists say whether they have pages", () => {
  @rest({ route: "/c", methods: [all()] })
  class C extends FrameworkModel {}
  @rest({ route: "/d", methods: [all({ page: false })] })
  class D extends FrameworkModel {}
  const options = { strict: true, guard: isStaff };
  assertEquals(problems([C], options), [
    'Cannot mount "C": all() needs "page", or "page: false", because the router is strict',
  ]);
  assertEquals(problems([D], options), []);
  assertEquals(problems([C], { ...options, strict: { lists: false } }), []);
});

test("a start tells of lists without pages and of missing guards together", () => {
  @rest({ route: "/mixed", methods: [all(), create()] })
  class Mixed extends FrameworkModel {}
  const lines = problems([Mixed, Whole], { strict: true });
  const has = (text: string) => lines.some((line) => line.includes(text));
  assertEquals([has(`"Mixed": all() needs "page"`), has("POST /mixed"), has("POST /a,")], [
    true,
    true,
    true,
  ]);
  const limits = { timeMS: -1, sendMS: -1 };
  const more = problems([Mixed], { strict: true, limits });
  for (const text of ["timeMS", "sendMS", `needs "page"`, "POST /mixed"]) {
    assertEquals([text, more.some((line) => line.includes(text))], [text, true]);
  }
});

test("strict removals need q, and remove at most 1000", async () => {
  @rest({ route: "/usual", methods: [removeAll()] })
  @rest({ route: "/free", methods: [removeAll({ q: "optional", max: false })] })
  @rest({ route: "/few", methods: [removeAll({ q: "optional", max: 2 })] })
  class Entry extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Entry], { strict: true, guard: () => true });
  const statusOf = async (path: string) => (await app.delete(path)).status;
  const entries = Array.from({ length: 1001 }, () => ({ name: "a" }));
  await getModel(Entry).collection.insertMany(entries as never);
  assertEquals(await statusOf("/usual"), 400);
  assertEquals(await statusOf(`/usual${asQuery({ name: "b" })}`), 204);
  assertEquals(await statusOf(`/usual${asQuery({})}`), 409);
  assertEquals(await statusOf("/few"), 409);
  assertEquals(await statusOf("/free"), 204);
});

test("a strict PUT needs no q", async () => {
  @rest({ route: "/puts", methods: [one(), replace()] })
  class Put extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Put], { strict: true, guard: () => true });
  const path = "/puts/0123456789abcdef01234567";
  assertEquals((await app.put(path, { name: "a" })).status, 201);
});

test("the start shows who may use an operation", () => {
  const options = { models: MODELS, strict: true, guard: isStaff } as const;
  const access = new Map(
    Framework.describe(options).map(({ method, path, access }) => [`${method} ${path}`, access]),
  );
  assertEquals(access.get("GET /prescriptions"), ["guard isStaff"]);
  assertEquals(access.get("PUT /prescriptions/:id/scan"), [
    "guard isStaff",
    "Prescription preFetch isDoctor",
    "Prescription postFetch",
  ]);
  assertEquals(access.get("PATCH /prescriptions/:id/drugs/:subId")?.slice(0, 2), [
    "guard isStaff",
    "Prescription postFetch",
  ]);
  const open = Framework.describe({ models: [Drug] }).find(({ operation }) => operation === "one");
  assertEquals(open?.access, ["everybody"]);
});

@rest({
  route: "/ledgers",
  tenant: "org",
  scope: () => ({}),
  methods: [
    one({ open: true }),
    create({
      preFetch: isStaff,
      preSave: function sign(_req, ledger) {
        return ledger;
      },
      preSend: (_req, ledger) => ledger,
    }),
  ],
})
class Ledger extends FrameworkModel {
  @prop()
  org?: string;
}

@rest({ route: "/shelves", scope: () => ({}), methods: [one()] })
class Shelf extends FrameworkModel {
  @rest({ methods: [all({ preFetch: isDoctor })] })
  @arrayProp({ items: Dose, embedded: true })
  doses?: Dose[];
}

test("access names hooks, scopes and tenants, and the log prints it", () => {
  using log = stub(console, "info");
  const start = (options: InitializeOptions) =>
    Framework.initialize({ ...options, guard: isStaff, log: true, tidy: false });
  const routers = [
    start({ models: [Ledger], tenant: () => "a" }),
    start({ models: [Shelf] }),
  ];
  const access = routers.flatMap((router) => router.describe().map(({ access }) => access));
  assertEquals(access, [
    ["guard isStaff", "preFetch isStaff", "preSave sign", "preSend", "scope", "tenant"],
    ["scope", "tenant"],
    ["guard isStaff", "scope"],
    ["guard isStaff", "preFetch isDoctor", "scope"],
  ]);
  const lines = log.calls.flatMap(({ args }) => String(args[0]).split("\n"));
  for (const [index, names = []] of access.entries()) {
    assertEquals([index, lines[index]?.includes(names.join(", "))], [index, true], lines[index]);
  }
});

for (const strict of ["yes", 1, null, [], { bodies: "no" }, { guard: true }]) {
  test(`strict: ${JSON.stringify(strict)} fails the start`, () => {
    assertThrows(
      () => Framework.initialize({ models: [Drug], strict: strict as never }),
      TypeError,
      'Cannot initialize: "strict',
    );
  });
}
