import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { admin, type AdminModel } from "@mongrove/mongrove/admin";
import { openapi } from "@mongrove/mongrove/openapi";
import { Appointment } from "./appointment.ts";
import { Invoice } from "./invoice.ts";
import { Patient } from "./patient.ts";
import { Prescription } from "./prescription.ts";
import { memberOf, namesOf, signedIn } from "./staff.ts";

/** The admin page asks for the token of a member of the staff. */
const help = "The identifier of a member, such as rosa (reception), who (a doctor) or amir";
const login = { header: "authorization", prefix: "Bearer ", label: "Token", help };

const times = ["start", "patient", "doctor", "minutes", "state"] as const;
const models = {
  Appointment: { list: times, title: "start", group: "Practice" } satisfies AdminModel<Appointment>,
  Patient: { list: ["name", "born", "insurance"], group: "Practice" } satisfies AdminModel<Patient>,
  Prescription: { group: "Practice", icon: "medication" } satisfies AdminModel<Prescription>,
  Invoice: {
    list: ["number", "patient", "total", "paid"],
    format: { total: { currency: "EUR" } },
  } satisfies AdminModel<Invoice>,
};

/** Builds the application. It neither connects nor listens. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({
    models: [Appointment, Patient, Prescription, Invoice],
    actor: (req) => memberOf(req).id,
    actorNames: namesOf,
    tenant: (req) => memberOf(req).clinic,
    strict: true,
    guard: signedIn,
    filters: "listed",
  });
  app.use(api);
  app.use(openapi(api, { info: { title: "Clinic", version: "1.0.0" } }));
  app.use(
    "/admin",
    admin(api, { title: "Clinic", login, links: { Documentation: "../docs" }, models }),
  );
  app.use(Framework.errors({ notFound: true }));
  return app;
}
