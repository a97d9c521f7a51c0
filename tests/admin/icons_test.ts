import { assertEquals, assertNotEquals } from "@std/assert";
import { iconPath, ICONS } from "../../admin/icons.ts";

const pathOf = (name: string) => ICONS.find(([each]) => each === name)?.[2];

/** The names of models, and the names of their icons. */
const MODELS: readonly (readonly [model: string, icon: string])[] = [
  ["Patient", "person"],
  ["People", "person"],
  ["Invoices", "receipt"],
  ["Category", "category"],
  ["Categories", "category"],
  ["Address", "home"],
  ["Addresses", "home"],
  ["OrderItem", "product"],
  ["PurchaseOrder", "cart"],
  ["support_ticket", "ticket"],
  ["Subtask", "task"],
  ["CarWash", "car"],
  ["Invitation", "mail"],
];

Deno.test("the icon of a model is found by the words of its name", () => {
  for (const [model, icon] of MODELS) {
    assertNotEquals(pathOf(icon), undefined, icon);
    assertEquals(iconPath(model), pathOf(icon), model);
  }
  for (const model of ["Qq", "Xyzzy", "S", ""]) assertEquals(iconPath(model), undefined, model);
});

Deno.test("a named icon takes precedence, and an unknown name counts as words", () => {
  assertEquals(iconPath("Patient", "event"), pathOf("event"));
  assertEquals(iconPath("Patient", "local_shipping"), pathOf("shipping"));
  assertEquals(iconPath("Patient", "zzz"), pathOf("person"));
});

Deno.test("no word has two icons", () => {
  const words = ICONS.flatMap(([, each]) => each.split(" "));
  assertEquals(words.filter((word, at) => words.indexOf(word) !== at), []);
});
