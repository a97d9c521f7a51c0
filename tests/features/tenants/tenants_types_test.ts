import { assertEquals } from "@std/assert";
import { all, define, FrameworkModel, getModel, prop, type ReadOnly, rest } from "../../../mod.ts";

/** Declares a class whose tenant is no field of it. */
function misspell(): void {
  // @ts-expect-error: `compny` is no field
  @rest({ route: "/misspelled", methods: [all()], tenant: "compny" })
  class Misspelled extends FrameworkModel {
    @prop({ readonly: true })
    readonly company?: ReadOnly<string>;
  }
  class Defined extends FrameworkModel {
    company?: string;
  }
  const fields = { company: { type: String } } as const;
  // @ts-expect-error: `compny` is no field
  define(Defined, { fields, rest: { route: "/defined", methods: [all()], tenant: "compny" } });
  getModel(Misspelled);
}

class Plain extends FrameworkModel {
  company?: string;
  name?: string;
}

define(Plain, {
  fields: { company: {}, name: { unique: { global: true } } },
  rest: { route: "/plain", methods: [all()], tenant: "company", trash: true, history: true },
});

Deno.test("the compiler knows the fields that can have a tenant", () => {
  assertEquals(typeof misspell, "function");
  assertEquals(getModel(Plain).schema.path("company").options.readonly, true);
});
