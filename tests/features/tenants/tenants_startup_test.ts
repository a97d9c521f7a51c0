import { assertEquals, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { Schema } from "mongoose";
import {
  all,
  arrayProp,
  Framework,
  FrameworkModel,
  type ModelClass,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";

abstract class Named extends FrameworkModel {
  @prop()
  company?: string;
}

@rest({ route: "/forgetful", methods: [all()] })
class Forgetful extends Named {}

@rest({ route: "/misspelled", methods: [all()], tenant: "compnay" as never })
class Misspelled extends Named {}

@rest({ route: "/true", methods: [all()], tenant: true as never })
class Wrong extends Named {}

@rest({ route: "/a", methods: [all()], tenant: "company" })
@rest({ route: "/b", methods: [all()], tenant: false })
class Split extends Named {}

class Loose extends Named {}

@rest({ route: "/routed", methods: [all()] })
class Routed extends Named {}

@rest({ route: "/orders", methods: [all()], tenant: "company" })
class Order extends Named {
  @prop({ ref: () => Routed })
  routed?: Ref<Routed>;
}

@rest({ route: "/holders", methods: [all(), one()], tenant: "company" })
class Holder extends Named {
  @rest({ methods: [all()] })
  @arrayProp({ items: () => Loose })
  loose!: Ref<Loose>[];
}

@rest({ route: "/open", methods: [all(), one()], tenant: false })
class Open extends Named {
  @prop({ ref: () => Loose })
  loose?: Ref<Loose>;
}

class Company extends FrameworkModel {
  @prop()
  title?: string;
}

@rest({ route: "/embedding", methods: [all()], tenant: "company" })
class Embedding extends FrameworkModel {
  @prop({ type: Company })
  company?: Company;
}

@rest({ route: "/listing", methods: [all()], tenant: "companies" })
class Listing extends FrameworkModel {
  @arrayProp({ items: String })
  companies?: string[];
}

const EMBEDS = '"embedded: true" in @arrayProp, or "type" in @prop, embeds it';

const PROBLEMS: [ModelClass, string][] = [
  [Forgetful, 'its @rest does not say "tenant": name its field, or say false'],
  [Misspelled, 'needs a field of the class, or false, as "tenant"'],
  [Wrong, 'needs a field of the class, or false, as "tenant"'],
  [Split, 'its @rest decorators have different values of "tenant"'],
  [Order, 'its field "routed" refers to "Routed", whose @rest does not say "tenant"'],
  [Holder, `its field "loose" refers to "Loose", which has no @rest with a "tenant"; ${EMBEDS}`],
  [Embedding, 'property "company" is the "tenant", so it holds a text'],
  [Listing, 'property "companies" is the "tenant", so it holds a text'],
  [Open, `its field "loose" refers to "Loose", which has no @rest with a "tenant"; ${EMBEDS}`],
];

test("a class that does not say its tenant fails the start", async (t) => {
  for (const [model, problem] of PROBLEMS) {
    await t.step(model.name, () => {
      const tenant = () => "acme";
      assertThrows(() => Framework.initialize({ models: [model], tenant }), TypeError, problem);
    });
  }
});

@rest({ route: "/bound", methods: [all()], tenant: "company" })
class Bound extends Named {}

test("a class with a tenant fails the start of a router without tenants", () => {
  assertThrows(
    () => Framework.initialize({ models: [Bound] }),
    TypeError,
    'its "tenant" is "company", which needs the option "tenant" of initialize()',
  );
  assertThrows(
    () => Framework.initialize({ models: [Bound], tenant: "acme" as never }),
    TypeError,
    'Cannot initialize: "tenant" is not a function',
  );
});

@rest({
  route: "/sorted",
  methods: [all<Sorted>({ sort: ["name", "grade", "rank"] })],
  tenant: "company",
})
@rest({ route: "/named", methods: [all<Sorted>({ sort: ["name"] })], tenant: "company" })
class Sorted extends Named {
  static override configure(schema: Schema): void {
    schema.index({ name: 1 }).index({ company: 1, rank: 1 });
  }
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
  @prop()
  grade?: string;
}

test("sorted fields without an index that begins with the tenant are logged once, in one line", () => {
  using log = stub(console, "warn");
  Framework.initialize({ models: [Sorted], tenant: () => "acme" });
  assertEquals(log.calls.map(({ args }) => args[0]), [
    'No index of "Sorted" begins with "company", "name" or "company", "grade", ' +
    'so that the database sorts all entities for "sort=name", "sort=grade": ' +
    'declare schema.index({ "company": 1, "name": 1, "_id": 1 }), ' +
    'schema.index({ "company": 1, "grade": 1, "_id": 1 })',
  ]);
});
