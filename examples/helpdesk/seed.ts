import { getModel } from "@mongrove/mongrove";
import { Organisation } from "./organisation.ts";
import { Ticket } from "./ticket.ts";

/** Stores organisations and tickets, unless there are some. */
export async function seed(): Promise<void> {
  if (await getModel(Ticket).exists({}) !== null) return;
  await getModel(Organisation).create([
    { key: "acme", name: "Acme", plan: "gold" },
    { key: "dune", name: "Dune" },
  ]);
  await getModel(Ticket).create([
    {
      ...{ title: "Printer on fire", organisation: "acme", note: "third time this month" },
      comments: [{ text: "It smells", author: "Cem" }, { text: "Again?", internal: true }],
    },
    { title: "Sand in the keyboard", organisation: "dune", agent: "bob" },
  ]);
}
