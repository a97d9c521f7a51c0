import { assertEquals } from "@std/assert";
import { getModel } from "../../../mod.ts";
import { mountDocumented } from "../../support/documented.ts";
import { Book, Receipt } from "../../fixtures/receipts.ts";
import { test } from "../../harness/testing.ts";

test("the document describes groups, and the answers are as it says", async () => {
  await using app = await mountDocumented([Receipt, Book]);
  const at = new Date("2024-03-09");
  await getModel(Receipt).create([{ state: "a", rank: 1, at, day: at }, { cents: 2n ** 60n }]);
  const isAnswer = app.validator(app.answer("GET", "/receipts"));
  const queries = [
    "group=state,at,day&sum=rank,price,cents&avg=cents,size",
    "sum=cents",
    "limit=2",
  ];
  for (const query of queries) {
    const rows = await app.read<unknown>(`/receipts?${query}`);
    assertEquals([query, isAnswer(rows), isAnswer.errors], [query, true, null]);
  }
  const isGroup = app.named("ReceiptGroup");
  assertEquals(isGroup({ state: "a", at: "2024-03", sum: { price: "1.5" } }), true);
  for (
    const other of [{ tenant: "a" }, { at: "2024-03-09" }, { sum: { price: 1 } }, { count: 0 }]
  ) {
    assertEquals([other, isGroup(other)], [other, false]);
  }
  const { parameters = [] } = app.operation("GET", "/few");
  assertEquals(
    parameters.filter(({ in: place }) => place === "query").map(({ name }) => name),
    ["q", "sort", "group", "sum"],
  );
});
