import { getModel } from "@mongrove/mongrove";
import { Organisation } from "./organisation.ts";
import { Ticket } from "./ticket.ts";
import { ACME, DUNE } from "./users.ts";

/** Stores organisations and tickets, unless there are some. Code with models names the tenant itself. */
export async function seed(): Promise<void> {
  if (await getModel(Ticket).exists({}) !== null) return;
  await getModel(Organisation).create([
    { _id: ACME, desk: "north", key: "acme", name: "Acme", plan: "gold" },
    { _id: DUNE, desk: "north", key: "dune", name: "Dune" },
    { desk: "south", key: "acme", name: "Acme in the south" },
  ]);
  await getModel(Ticket).create([
    {
      ...{ desk: "north", title: "Printer on fire", organisation: ACME, openedBy: "cem" },
      note: "third time this month",
      comments: [{ text: "It smells", author: "cem" }, { text: "Again?", internal: true }],
      attachments: [{ title: "What it says", author: "cem" }],
    },
    {
      ...{ desk: "north", title: "Sand in the keyboard", organisation: DUNE, openedBy: "dee" },
      agent: "bob",
    },
    { desk: "south", title: "Penguins in the cellar" },
  ]);
}
