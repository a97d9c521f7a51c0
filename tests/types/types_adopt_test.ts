/** Paths that the compiler must accept of `adopt()`, and paths that it must refuse. `deno test` checks this file. */
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, type Entity, one } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";

const { Schema } = mongoose;

interface Pet {
  name: string;
  age?: number;
  owner: mongoose.Types.ObjectId;
  home: { city: string; geo?: { lat: number } };
  toys: { label: string }[];
  born: Date;
}

const rest = { route: "/a", methods: [one()] };

/** Never called. */
function declared(Model: mongoose.Model<Pet>) {
  const Named = adopt(Model, {
    shown: ["name", "home.city", "home.geo.lat", "toys.label", "born"],
    writable: ["name"],
    rest: {
      route: "/a",
      methods: [
        all({ sort: ["name"] }),
        one({ preSend: (_req, pet) => pet.name.length > 0 ? pet : null }),
      ],
    },
    parts: { toys: { methods: [all()] } },
  });
  const nameOf: (pet: Entity<InstanceType<typeof Named>>) => string = (pet) => pet.name;
  // @ts-expect-error: a path that does not exist
  adopt(Model, { shown: ["nam"], writable: "all", rest });
  // @ts-expect-error: a nested path that does not exist
  adopt(Model, { shown: ["home.street"], writable: "all", rest });
  // @ts-expect-error: a path of a list that does not exist
  adopt(Model, { shown: "all", writable: ["toys.price"], rest });
  // @ts-expect-error: another word than "all"
  adopt(Model, { shown: "some", writable: "all", rest });
  adopt(Model, {
    shown: "all",
    writable: "all",
    // @ts-expect-error: an operation with a field that does not exist
    rest: { ...rest, methods: [all({ sort: ["x"] })] },
  });
  // @ts-expect-error: routes of a path that does not exist
  adopt(Model, { shown: "all", writable: "all", rest, parts: { toy: { methods: [all()] } } });
  return nameOf;
}

/** Never called: the types of a model that Mongoose infers of its schema. */
function inferred() {
  const schema = new Schema(
    { a: String, list: [{ x: Number, y: { z: String } }], n: { m: Date } },
    { virtuals: { v: { get: () => 1 } } },
  );
  const Model = mongoose.model("TypesAdopted", schema);
  adopt(Model, { shown: ["a", "list.x", "list.y.z", "n.m", "v"], writable: ["list", "n"], rest });
  // @ts-expect-error: a path of a list that does not exist
  adopt(Model, { shown: ["list.q"], writable: "all", rest });
  // @ts-expect-error: a virtual, which is not stored
  adopt(Model, { shown: "all", writable: ["v"], rest });
  const Unknown = mongoose.model("TypesUnknown");
  const methods = [all({ sort: ["anything"] })];
  return adopt(Unknown, { shown: ["any.path"], writable: "all", rest: { route: "/b", methods } });
}

interface Shouts {
  shout(): string;
}

/** The usual type of a model with statics. */
interface PetModel extends mongoose.Model<Pet, unknown, Shouts> {
  byName(name: string): Promise<unknown>;
}

/** Never called. */
function withStatics(Model: PetModel) {
  const schema = new Schema({ a: String }, { statics: { known: () => 1 } });
  // @ts-expect-error: a path that does not exist
  adopt(mongoose.model("TypesStatics", schema), { shown: ["b"], writable: "all", rest });
  // @ts-expect-error: a nested path that does not exist
  adopt(Model, { shown: ["home.street"], writable: "all", rest });
  // @ts-expect-error: a method, which no client sees
  adopt(Model, { shown: ["shout"], writable: "all", rest });
  return adopt(Model, {
    shown: ["home.city", "toys.label"],
    writable: ["name"],
    rest: {
      route: "/c",
      methods: [one({ preSend: (_req, pet) => pet.shout() === pet.name ? pet : null })],
    },
  });
}

Deno.test("adopt() types the paths of a model", () => {
  const types = [declared, inferred, withStatics].map((each) => typeof each);
  assertEquals(types, ["function", "function", "function"]);
});
