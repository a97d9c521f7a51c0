import { getModel } from "@mongrove/mongrove";
import { Appointment, slotsOf } from "./appointment.ts";
import { Invoice } from "./invoice.ts";
import { Patient } from "./patient.ts";

/** Stores patients, appointments and an invoice, unless there are some. Code with models names the tenant itself. */
export async function seed(): Promise<void> {
  if (await getModel(Patient).exists({}) !== null) return;
  const [clinic, doctor] = ["oak", "who"];
  const { _id: patient } = await getModel(Patient).create({
    ...{ clinic, name: "Ann Arbor", born: "1980-05-04", notes: "Allergic to penicillin" },
  });
  await getModel(Patient).create([
    { clinic, name: "Ben Birch", born: "2016-02-29", insurance: "private" },
    { clinic: "elm", name: "Eli Elder", born: "1944-12-31" },
  ]);
  const tomorrow = Math.ceil(Date.now() / 86_400_000) * 86_400_000;
  for (const hour of [9, 10]) {
    const time = { doctor, start: new Date(tomorrow + hour * 3_600_000), minutes: 30 };
    await getModel(Appointment).create({ clinic, patient, ...time, slots: slotsOf(time) });
  }
  const lines = [{ text: "Consultation", price: 80 }, { text: "Bandage", count: 2, price: 4.5 }];
  await getModel(Invoice).create({ clinic, number: "1001", patient, lines, total: 89 });
}
