import { assertEquals, assertThrows } from "@std/assert";
import { admin, type AdminModel } from "@mongrove/mongrove/admin";
import {
  all,
  arrayProp,
  Framework,
  FrameworkModel,
  type ModelClass,
  one,
  prop,
} from "../../mod.ts";
import { type Ref, rest, type Restricted } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { isGuest, serveAdmin } from "./admin_app.ts";

@rest({ route: "/doctors", methods: [all()], tenant: "clinic" })
class Doctor extends FrameworkModel {
  @prop({ required: true })
  clinic!: string;

  @prop({ required: true, enum: ["nurse", "surgeon"] })
  kind!: string;

  @prop({ required: true })
  licence!: string;

  @prop()
  notes?: string;

  @prop({ hidden: isGuest })
  phone?: Restricted<string>;
}

class Line extends FrameworkModel {
  @prop({ type: Number })
  price?: number;
}

@rest({ route: "/visits", methods: [all(), one()], tenant: "clinic" })
@rest({ route: "/today/visits", methods: [all()], tenant: "clinic" })
class Visit extends FrameworkModel {
  @prop({ required: true })
  clinic!: string;

  @prop({ type: Date })
  start?: Date;

  @prop({ ref: () => Doctor })
  doctor?: Ref<Doctor>;

  @prop({ type: Number })
  total?: number;

  @prop({ hidden: isGuest })
  reason?: Restricted<string>;

  @prop({ hidden: true })
  secret?: string;

  @prop({ enum: ["open", "done"] })
  state?: string;

  @rest({ methods: [all()] })
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
}

@rest({ route: "/clinics", methods: [all()], tenant: false })
class Clinic extends FrameworkModel {
  @prop({ required: true })
  town!: string;

  @prop()
  label?: string;
}

const CLASSES: readonly ModelClass[] = [Doctor, Visit, Clinic];
const VISIT_COLUMNS = ["start", "total", "state", "doctor", "reason"];
const tenant = () => "north";

test("without the option, lists begin with a title and enums, and the tenant is no column", async () => {
  await using app = await serveAdmin(CLASSES, { initialize: { tenant } });
  const { models } = await app.read("staff");
  assertEquals(models.map(({ path, menu, title, list }) => [path, menu, title, list]), [
    ["/doctors", "Doctors", ["licence"], ["licence", "kind", "phone"]],
    ["/visits", "Visits", ["start", "total"], VISIT_COLUMNS],
    ["/today/visits", "Visits (today)", ["start", "total"], VISIT_COLUMNS],
    ["/clinics", "Clinics", ["label"], ["label", "town"]],
  ]);
  assertEquals(models[0]?.columns, ["_id", "kind", "licence", "notes", "phone"]);
  const { one, all } = models[1]?.operations ?? {};
  const shown = [...one?.answer ?? [], ...all?.answer ?? []].map(({ name }) => name);
  assertEquals([...shown, ...all?.filter?.map(({ path }) => path) ?? []].includes("clinic"), false);
});

test("the option says columns, title, menu, group, icon and formats, as far as the reader sees them", async () => {
  const models = {
    Visit: {
      list: ["reason", "start"],
      title: "reason",
      menu: { "/today/visits": "Today" },
      group: "Practice",
      icon: "event",
      format: { total: { currency: "EUR" }, "lines.price": "percent" },
    } satisfies AdminModel<Visit>,
    Doctor: { menu: "Today" } satisfies AdminModel<Doctor>,
  };
  await using app = await serveAdmin(CLASSES, { initialize: { tenant }, models });
  const views = async (role: string) =>
    (await app.read(role)).models.map(({ menu, group, icon, title, list }) =>
      [menu, group, icon, title, list].filter((each) => each !== undefined)
    );
  const [doctor, visit, today] = await views("staff");
  assertEquals(doctor?.[0], "Today (doctors)");
  assertEquals(visit, ["Visits", "Practice", "event", ["reason"], ["reason", "start"]]);
  assertEquals(today?.[0], "Today (today, visits)");
  assertEquals((await views("guest"))[1]?.slice(3), [["start", "total"], ["start"]]);
  const fields = (await app.read()).models[1]?.operations.all?.answer ?? [];
  assertEquals(fields.find(({ name }) => name === "total")?.shown, { currency: "EUR" });
  const lines = fields.find(({ name }) => name === "lines");
  assertEquals(lines?.items?.fields?.find(({ name }) => name === "price")?.shown, "percent");
  const part = (await app.read()).models[1]?.parts[0]?.operations.all?.answer;
  assertEquals(part?.find(({ name }) => name === "price")?.shown, "percent");
});

const WRONG: Record<string, Record<string, unknown>> = {
  [`"models" names "Vist", and the router has no list of such a class`]: { Vist: {} },
  [`"models.Visit.list" names "strat", which is no field that its list shows`]: {
    Visit: { list: ["start", "strat"] },
  },
  [`"models.Visit.list" names "secret", which`]: { Visit: { list: ["secret"] } },
  [`"models.Visit.list" names "lines.price", which`]: { Visit: { list: ["lines.price"] } },
  [`"models.Visit.list" is not a list of different fields`]: {
    Visit: { list: ["start", "start"] },
  },
  [`"models.Visit.title" names "doctor", which is no text, number or date`]: {
    Visit: { title: "doctor" },
  },
  [`"models.Visit.menu" names "/visit", and the lists are at /visits, /today/visits`]: {
    Visit: { menu: { "/visit": "Visits" } },
  },
  [`"models.Visit.icon" is not a text`]: { Visit: { icon: 1 } },
  [`"models.Visit" has no option "columns"`]: { Visit: { columns: [] } },
  [`"models.Visit.format" names "reason", which is no number`]: {
    Visit: { format: { reason: "percent" } },
  },
  [`"models.Visit.format.total" is neither "percent"`]: {
    Visit: { format: { total: { currency: "euro" } } },
  },
  [`"models.Visit" is not an object`]: { Visit: [] },
};

test("a wrong name in the option fails the start", () => {
  const api = Framework.initialize({ models: CLASSES, tenant, tidy: false });
  for (const [message, models] of Object.entries(WRONG)) {
    assertThrows(() => admin(api, { title: "Test", models } as never), TypeError, message);
  }
});

test("the compiler refuses a field that the class has not, and one that is hidden", () => {
  const models = {
    // @ts-expect-error The class has no such field.
    wrong: { list: ["strat"] } satisfies AdminModel<Visit>,
    // @ts-expect-error A method is no field.
    method: { title: "toString" } satisfies AdminModel<Visit>,
    // @ts-expect-error A format has the path of a field.
    format: { format: { totl: "percent" } } satisfies AdminModel<Visit>,
    right: { list: ["start", "createdAt"], format: { total: "plain" } } satisfies AdminModel<Visit>,
  };
  assertEquals(Object.keys(models).length, 4);
});
