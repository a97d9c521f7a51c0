import express, { type Express } from "express";
import { admin } from "@mongrove/mongrove/admin";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
} from "@mongrove/mongrove";
import { getModel, one, prop, type Ref, remove, rest, RestError, update } from "@mongrove/mongrove";
import { onlyStrict } from "../../support/only_strict.ts";

@rest({ route: "/wards", methods: [all({ search: ["name"] }), one(), create()] })
export class Ward extends FrameworkModel {
  @prop({ required: true, unique: true })
  name!: string;
}

class Recalled extends FrameworkModel {
  @prop({ type: Number, required: true })
  recalled!: number;
}

const recall = action("recall", {
  on: "all",
  answer: Recalled,
  run: () => ({ recalled: 2 }),
});

const discharge = action("discharge", {
  on: "one",
  available: (_req, patient: Entity<Patient>) => patient.ward !== undefined,
  run: async (_req, patient: Entity<Patient>) => {
    patient.set("ward", undefined);
    return await patient.save();
  },
});

@rest({
  route: "/patients",
  schemaOptions: { timestamps: true },
  trash: { see: () => true },
  methods: [
    all({
      page: { max: 20 },
      sort: ["name", "updatedAt"],
      search: ["name"],
      count: true,
      live: true,
    }),
    one(),
    create(),
    update(),
    remove(),
    recall,
    discharge,
  ],
})
export class Patient extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ ref: () => Ward })
  ward?: Ref<Ward>;

  @arrayProp({ items: () => Ward })
  earlier?: Ref<Ward>[];

  readonly updatedAt!: Date;
}

class Reply extends FrameworkModel {
  @prop({ required: true })
  words!: string;
}

class Remark extends FrameworkModel {
  @prop({ required: true })
  text!: string;

  @rest({ methods: [all(), one(), create(), update(), remove()] })
  @arrayProp({ items: Reply, embedded: true })
  replies?: Reply[];
}

/** Visits, which nobody changes or restores. */
@rest({
  route: "/visits",
  trash: { see: () => true, restore: () => false },
  methods: [all({ page: { max: 20 }, search: ["reason"] }), one(), remove()],
})
export class Visit extends FrameworkModel {
  @prop({ required: true })
  reason!: string;

  @rest({ methods: [all(), one(), create(), update()] })
  @arrayProp({ items: Remark, embedded: true })
  remarks?: Remark[];
}

/** A model whose name has no icon. */
@rest({ route: "/zebras", methods: [all()] })
class Zebra extends FrameworkModel {
  @prop()
  name?: string;
}

export async function seedClinic(): Promise<void> {
  const [ward] = await getModel(Ward).create([{ name: "North" }, { name: "South" }]);
  for (const name of ["Ann Lee", "Bob May", "Cid Roe"]) {
    await getModel(Patient).create({ name, ...ward && { ward: ward._id } });
  }
  await getModel(Visit).create({
    reason: "Cough",
    remarks: [{ text: "Dry", replies: [{ words: "Since May" }] }],
  });
}

export function buildClinic(): Express {
  const app = express();
  app.use(express.json());
  app.post("/sign-out", (_req, res) => res.redirect(303, "/sign-in"));
  app.get("/sign-in", (_req, res) => {
    res.clearCookie("ended").type("html").send(
      '<link rel="icon" href="data:,"><h1>Sign in here</h1>',
    );
  });
  const api = Framework.initialize({
    guard: ({ headers }) => {
      if (headers.cookie === "ended=1") throw new RestError(401, { code: "UNAUTHENTICATED" });
      return true;
    },
    models: [Patient, Visit, Ward, Zebra],
    strict: onlyStrict("bodies"),
  });
  app.use(api);
  app.use(
    "/admin",
    admin(api, {
      title: "Clinic",
      session: { signIn: "../sign-in", signOut: "../sign-out" },
      links: { "Documentation": "../docs" },
      models: { Patient: { group: "Practice" }, Visit: { group: "Practice", icon: "schedule" } },
    }),
  );
  app.use(Framework.errors({ notFound: true }));
  return app;
}
