import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Reply } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import type { EntityBody, ErrorBody } from "../support/client.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { loadFiles, type OpenRecipe } from "./recipes/open_recipe.ts";

const PAGE = "docs/rules_across.md";
const text = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));
const headers = { "x-user": "ann" };

/** A rule of the page: the requests of clients, what they break, and the rule as a mere check. */
interface Rule {
  readonly title: string;
  /** The application in `examples/rules`. */
  readonly file: string;
  /** Sends the requests of all clients at once, and returns what breaks the rule. */
  readonly attack: (app: OpenRecipe) => Promise<unknown[]>;
  /** What turns the rule into a check that binds nothing. */
  readonly unbind: readonly (readonly [string, string])[];
}

const fifty = <T>(run: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 50 }, (_, at) => run(at)));

/** Sends a request again while it meets others, and returns its last status. */
async function insist(send: () => Promise<Reply>): Promise<number> {
  for (;;) {
    const { status, body, text } = await send();
    const { code, fields } = Object(body) as Partial<ErrorBody>;
    assert(status < 500, text);
    if (code !== "CONFLICT" || fields?.includes("slots")) return status;
  }
}

const entitiesOf = async <T>({ read }: OpenRecipe, path: string) =>
  await read<(T & EntityBody)[]>(path, { headers });

interface Time {
  readonly place: string;
  readonly start: number;
  readonly end: number;
}

/** The pairs of times that overlap at one place. */
const overlapsOf = (times: readonly Time[]) =>
  times.flatMap((one, at) =>
    times.slice(at + 1).filter(({ place, start, end }) =>
      place === one.place && start < one.end && one.start < end
    ).map((other) => [one, other])
  );

interface Visit {
  readonly doctor: string;
  readonly start: string;
  readonly minutes: number;
  readonly slots: readonly string[];
}

const minute = (at: number) => new Date(Date.UTC(2027, 0, 4, 9, at)).toISOString();

const RULES: readonly Rule[] = [
  {
    title: "Appointments that never overlap",
    file: "appointments.ts",
    async attack(app) {
      const path = "/appointments";
      const bodyOf = (at: number) => ({
        doctor: `${at % 2}`,
        start: minute(15 * (at % 5)),
        minutes: 15 * (1 + at % 3),
      });
      await fifty((at) => insist(() => app.post(path, bodyOf(at), { headers })));
      const made = await entitiesOf(app, path);
      assert(made.length > 1);
      await fifty((at) => {
        const { _id } = made[at % made.length] ?? {};
        const { doctor, start } = bodyOf(at);
        const body = at % 4 < 2 ? { doctor } : { start };
        return insist(() => app.patch(`${path}/${_id}`, body, { headers }));
      });
      const all = await entitiesOf<Visit>(app, path);
      const torn = all.filter(({ doctor, start, slots }) =>
        slots[0] !== `${doctor} ${Date.parse(start) / (15 * 60_000)}`
      );
      const overlaps = overlapsOf(all.map(({ doctor, start, minutes }) => {
        const time = Date.parse(start);
        return { place: doctor, start: time, end: time + minutes * 60_000 };
      }));
      return [...torn, ...overlaps];
    },
    unbind: [["{ unique: true }", "{}"]],
  },
  {
    title: "Bookings of any length",
    file: "bookings.ts",
    async attack(app) {
      const room = await app.created("/rooms", { name: "Moon" }, { headers });
      const answers = await fifty((at) => {
        const body = { room: room._id, start: minute(at % 7), end: minute(at % 7 + 3) };
        const requests = [{ id: "booking", method: "POST", path: "/bookings", body }];
        return insist(() => app.post("/batch", { requests }, { headers }));
      });
      assert(answers.includes(200));
      const all = await entitiesOf<{ start: string; end: string }>(app, "/bookings");
      return overlapsOf(all.map(({ start, end }) => ({
        place: "",
        start: Date.parse(start),
        end: Date.parse(end),
      })));
    },
    unbind: [["await getModel(Room).updateOne({ _id: room }, { $inc: { touched: 1 } });", ""]],
  },
  {
    title: "Stock that never goes below zero",
    file: "stock.ts",
    async attack(app) {
      const { _id } = await app.created("/products", { stock: 20 }, { headers });
      const path = `/products/${_id}`;
      await fifty((at) =>
        at % 10 === 9
          ? insist(() => app.patch(path, { stock: at % 20 }, { headers }))
          : insist(() => app.post(`${path}/orders`, { count: 1 + at % 3 }, { headers }))
      );
      type Product = { stock: number; orders: { count: number }[] };
      const { stock, orders } = await app.read<Product>(path, { headers });
      assert(orders.length > 0);
      const ordered = orders.reduce((sum, { count }) => sum + count, 0);
      return ordered > stock ? [{ ordered, stock }] : [];
    },
    unbind: [
      ['const suffices = onlyIf(["stock", "orders"], (', "const suffices = (("],
      ["  return true;\n});", "  return product;\n});"],
    ],
  },
  {
    title: "A limit for each owner",
    file: "places.ts",
    async attack(app) {
      await fifty((at) => insist(() => app.post("/lists", { name: `${at}` }, { headers })));
      const { length } = await entitiesOf(app, "/lists");
      assert(length >= 3);
      return length > 3 ? [length] : [];
    },
    unbind: [["{ unique: true }", "{}"]],
  },
];

for (const { title, file, attack, unbind } of RULES) {
  const example = await Deno.readTextFile(new URL(`../../examples/rules/${file}`, import.meta.url));

  const attackRecipe = async (change?: (code: string) => string) => {
    const open = await loadFiles({ "app.ts": example }, change);
    await using app = await open(await sharedReplicaSet());
    await Promise.all(Object.values(mongoose.connection.models).map((model) => model.init()));
    return await attack(app);
  };

  Deno.test(`${PAGE} shows what is in examples/rules: ${title}`, () => {
    const [, section = ""] = text.split(`\n## ${title}\n`);
    const [, name, code = ""] = /^```ts ignore\n\/\/ (\S+)\n([^]*?)^```$/m.exec(section) ?? [];
    assertEquals([name, code !== "" && example.includes(code)], [file, true]);
  });

  test(`${PAGE} holds with 50 clients at once: ${title}`, async () => {
    assertEquals(await attackRecipe(), []);
  });

  test(`${PAGE} is broken by 50 clients at once as a mere check: ${title}`, async () => {
    const broken = await attackRecipe((code) =>
      unbind.reduce((text, [from, to]) => {
        assertEquals(text.split(from).length, 2, from);
        return text.replace(from, to);
      }, code)
    );
    assert(broken.length > 0);
  });
}
