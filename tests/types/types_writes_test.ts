/**
 * What the compiler must accept of the options of writes, and what it must refuse. `deno test` type-checks this file: a
 * case that compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import {
  all,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  type Hidden,
  type HooksOf,
  prop,
  type ReadOnly,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import type { WriteOptions } from "../../src/declare/options.ts";

class Film extends FrameworkModel {
  @prop({ required: true, unique: true })
  slug!: string;
  @prop({ type: Number })
  year?: number;
  @prop({ hidden: true, unique: true })
  secret?: Hidden<string>;
  @prop({ readonly: true })
  owner?: ReadOnly<string>;
  @prop({ type: Object })
  free?: { a: number };
  title(): string {
    return this.slug;
  }
}

const keep = (_req: FrameworkRequest, film: Entity<Film>) => film;

Deno.test("each write takes its options", () => {
  const methods = [
    create<Film>({ many: 100, atomic: false, preSave: keep }),
    create<Film>({ idempotency: { keep: "24h", required: true, caller: (req) => `${req.ip}` } }),
    create<Film>({ many: 100, formats: ["ndjson"] }),
    updateAll<Film>({ fields: ["slug", "year", "secret", "free"], max: 5, preSave: keep }),
    removeAll<Film>({ max: 5, q: "required" }),
    replace<Film>({ by: "slug", preSend: keep }),
    replace<Film>({ by: "_id" }),
    replace<Film>(),
    replace(),
    updateAll({ fields: ["slug"] }),
  ];
  const hooks: HooksOf<Film> = { fields: ["slug"], by: "slug", many: 5 };
  const options: WriteOptions<Film> = { fields: ["secret"], by: "_id" };
  assertEquals([methods.length, Film.name], [10, "Film"]);
  assertEquals(Object.keys({ ...hooks, ...options }).length, 3);
});

Deno.test("other options of updateAll() and replace() do not compile", () => {
  const methods = [
    // @ts-expect-error fields are missing
    updateAll<Film>({}),
    // @ts-expect-error fields are missing
    updateAll(),
    // @ts-expect-error no field
    updateAll<Film>({ fields: ["none"] }),
    // @ts-expect-error a readonly field
    updateAll<Film>({ fields: ["owner"] }),
    // @ts-expect-error a method
    updateAll<Film>({ fields: ["title"] }),
    // @ts-expect-error what the framework sets
    updateAll<Film>({ fields: ["_id"] }),
    // @ts-expect-error nothing is sent
    updateAll<Film>({ fields: ["slug"], preSend: keep }),
    // @ts-expect-error no field
    replace<Film>({ by: "none" }),
    // @ts-expect-error a hidden field
    replace<Film>({ by: "secret" }),
    // @ts-expect-error an object
    replace<Film>({ by: "free" }),
  ];
  assertEquals(methods.length, 10);
});

Deno.test("options of other operations do not compile, and values of other types", () => {
  const methods = [
    // @ts-expect-error an option of create()
    update<Film>({ many: 5 }),
    // @ts-expect-error an option of all() and create()
    update<Film>({ formats: ["ndjson"] }),
    // @ts-expect-error no format
    create<Film>({ many: 5, formats: ["xml"] }),
    // @ts-expect-error an option of updateAll()
    create<Film>({ fields: ["slug"] }),
    // @ts-expect-error an option of updateAll() and removeAll()
    remove<Film>({ max: 5 }),
    // @ts-expect-error an option of removeAll()
    all<Film>({ q: "required" }),
    // @ts-expect-error neither "required" nor "optional"
    removeAll<Film>({ q: true }),
    // @ts-expect-error no time
    create<Film>({ idempotency: { keep: "24" } }),
    // @ts-expect-error no option of keys
    create<Film>({ idempotency: { keep: "24h", keys: true } }),
    // @ts-expect-error no caller
    create<Film>({ idempotency: { keep: "24h", caller: () => 5 } }),
  ];
  assertEquals(methods.length, 10);
});

Deno.test("@rest checks the options of writes against its class", () => {
  @rest({
    route: "/books",
    methods: [updateAll({ fields: ["title"] }), replace({ by: "title" }), create({ many: 5 })],
  })
  class Book extends FrameworkModel {
    @prop({ unique: true })
    title?: string;
  }
  const decorate = () => {
    // @ts-expect-error the class has no name
    @rest({ route: "/others", methods: [updateAll({ fields: ["name"] })] })
    class Other extends FrameworkModel {
      @prop()
      title?: string;
    }
    // @ts-expect-error the class has no name
    @rest({ route: "/thirds", methods: [replace({ by: "name" })] })
    class Third extends FrameworkModel {
      @prop()
      title?: string;
    }
    return [Other, Third];
  };
  assertEquals([Book.name, typeof decorate], ["Book", "function"]);
});
