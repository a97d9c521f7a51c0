import { assert, assertEquals } from "@std/assert";
import { eventsBetween, ListLog, putsOf, writeEvents } from "./list_events.ts";
import type { KnownDigests, Listed, ListEvent } from "./list_events.ts";

/** A list of entities by their names; a number behind a name stands for what it holds. */
function listOf(words: string): Listed[] {
  return words.split(" ").filter(Boolean).map((word) => {
    const [name = ""] = word;
    return { id: `"${name}"`, text: `{"_id":"${name}","v":"${word}"}`, digest: word };
  });
}

const heldOf = (entities: readonly Listed[]): KnownDigests =>
  new Map(entities.map(({ id, digest }) => [id, digest]));

/** Folds events as a client does, from identifiers in an order. */
function fold(before: readonly Listed[], events: readonly ListEvent[]): string[] {
  const list = before.map(({ text }) => String(text));
  const idOf = (text: string) => `"${JSON.parse(text)._id}"`;
  for (const event of events) {
    if (event.type !== "put" && event.type !== "drop") continue;
    const id = event.type === "drop" ? event.id : idOf(String(event.text));
    const at = list.findIndex((text) => idOf(text) === id);
    if (at >= 0) list.splice(at, 1);
    if (event.type === "drop") continue;
    list.splice(list.findIndex((text) => idOf(text) === event.after) + 1, 0, String(event.text));
  }
  return list;
}

const LISTS: readonly (readonly [before: string, after: string, most: number])[] = [
  ["", "a b c", 3],
  ["a b c", "", 3],
  ["a b c d", "b c d a", 1],
  ["a b c d", "d a b c", 1],
  ["a b c d", "a b2 c d", 1],
  ["a b c", "x a b", 2],
  ["a b c d e f", "f e d c b a", 5],
  ["a b c d e f", "c2 a d x f b", 6],
];

for (const [before, after, most] of LISTS) {
  Deno.test(`eventsBetween() makes "${after}" of "${before}" by ${most} events at most`, () => {
    const old = listOf(before);
    const entities = listOf(after);
    const events = eventsBetween(heldOf(old), { entities, isOrdered: true });
    assertEquals(fold(old, events), entities.map(({ text }) => text));
    assert(events.length <= most, `${events.length} events`);
  });
}

Deno.test("eventsBetween() makes any order of any other", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const some = () =>
    [..."abcdefghij"].filter(() => random(3) > 0)
      .map((name) => `${name}${random(3)}`)
      .map((word) => [random(1000), word] as const).sort(([a], [b]) => a - b)
      .map(([, word]) => word).join(" ");
  for (let round = 0; round < 2000; round++) {
    const [before, after] = [some(), some()];
    const events = eventsBetween(heldOf(listOf(before)), {
      entities: listOf(after),
      isOrdered: true,
    });
    const texts = listOf(after).map(({ text }) => text);
    assertEquals(fold(listOf(before), events), texts, `${before} → ${after}`);
  }
});

Deno.test("writeEvents() tells the place with the last event, and cuts between events", () => {
  const text = `{"_id":"a","text":"${"é".repeat(40_000)}"}`;
  const puts = putsOf([{ id: '"a"', text }, { id: '"b"', text }], true);
  const pieces = writeEvents([{ type: "resync" }, ...puts, { type: "drop", id: "1" }], "place");
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const [first = "", ...others] = pieces.map((piece) => decoder.decode(piece));
  assertEquals(first.slice(0, 45), "event: resync\nid:\ndata: {}\n\nevent: put\ndata: ");
  assertEquals(others.length, 2);
  assertEquals(others.at(-1), 'event: drop\nid: place\ndata: {"_id":1}\n\n');
  for (const piece of [first, ...others]) assertEquals(piece.slice(-2), "\n\n");
});

Deno.test("a log of a list forgets the oldest versions when many entities have changed", () => {
  const log = new ListLog();
  const places: string[] = [];
  const change = (name: string, count: number) => {
    places.push(log.place);
    log.add(Array.from({ length: count }, () => ({ type: "drop", id: `"${name}"` })));
  };
  change("a", 10_000);
  change("b", 1);
  const last = { version: log.version, events: [] };
  const list = { entities: listOf("a b"), isOrdered: false };
  const missed = places.map((place) => log.missedSince(place, { list, last })?.length);
  assertEquals(missed, [undefined, 2]);
  change("a", 10_001);
  assertEquals(log.missedSince(places[2], { list, last: { ...last, version: 3 } }), undefined);
});
