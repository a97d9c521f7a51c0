import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { all, create, FrameworkModel, one, prop, type Ref, rest } from "../../mod.ts";
import { declareId, ID_KINDS } from "../fixtures/id_kinds.ts";
import { test } from "../harness/testing.ts";
import { documentOf } from "../support/documented.ts";

/** Serves owners with an `_id` of the type, and pets that refer to them. */
function declarePets(type: unknown) {
  @rest({ route: "/owners", methods: [one(), create({ many: 5, atomic: false })] })
  class Owner extends FrameworkModel {
    static override configure(schema: Schema): void {
      if (type !== undefined) declareId(schema, type);
    }
  }
  @rest({ route: "/pets", methods: [all({ populate: { owner: true } })] })
  class Pet extends FrameworkModel {
    @prop({ ref: Owner })
    owner?: Ref<Owner>;
  }
  return [Owner, Pet];
}

const KINDS: Readonly<
  Record<string, { readonly type: unknown; readonly ids?: readonly unknown[] }>
> = {
  ObjectId: { type: undefined },
  ...ID_KINDS,
};

const ID = "0123456789abcdef01234567";

for (const [name, { type, ids = [ID] }] of Object.entries(KINDS)) {
  test(`results and references have the _id of their class in the document: ${name}`, async () => {
    const { named } = await documentOf(declarePets(type));
    const [result, pet] = [named("EntityResult"), named("PetPopulated")];
    const isOther = type !== undefined;
    for (const _id of [...ids, "no identifier"]) {
      const isGiven = _id !== "no identifier";
      assertEquals(result({ status: 201, _id: String(_id) }), isGiven || isOther, String(_id));
      const isTaken = isGiven || name === "String";
      const entity = { _id: ID, __v: 0 };
      // The formats of strings are not compared.
      if (name !== "UUID") assertEquals(pet({ ...entity, owner: _id }), isTaken, String(_id));
    }
  });
}
