import type { Random } from "../twins/random.ts";
import { REFERENCES, VALUES } from "./library.ts";
import { CITIES, NAMES, type World } from "./world.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type ClientFilter = { [key: string]: Json };

/** Makes filters of clients, of which most lead through references. */
export class RandomFilters {
  readonly #random: Random;
  readonly #world: World;

  constructor(random: Random, world: World) {
    this.#random = random;
    this.#world = world;
  }

  filter(depth = 3): ClientFilter {
    const random = this.#random;
    const filter: ClientFilter = {};
    for (let count = 1 + random.below(2); count > 0; count--) {
      if (depth > 1 && random.chance(0.5)) {
        const list = Array.from({ length: 1 + random.below(2) }, () => this.filter(depth - 1));
        filter[random.one(["$and", "$or", "$nor"])] = list;
      } else Object.assign(filter, this.#entry());
    }
    return filter;
  }

  #entry(): ClientFilter {
    const random = this.#random;
    switch (random.below(10)) {
      case 0:
        return { title: { $regex: random.one(["^x", "1", "y"]) } };
      case 1:
        return { year: random.one<Json>([2000, null, { $gt: 2000 }, { $exists: false }]) };
      case 2:
        return { author: random.one<Json>([this.#anyId(), { $ne: this.#anyId() }, null]) };
      case 3: {
        const inside = { ...this.#referred(["editor"]), ...this.#page() };
        const match = random.chance(0.3) ? { $or: [this.#referred(["editor"]), inside] } : inside;
        const elements = { $elemMatch: match };
        return { chapters: random.chance(0.3) ? { $not: elements } : elements };
      }
      case 4:
        return { "chapters.page": random.below(4) };
      default:
        return this.#referred(REFERENCES);
    }
  }

  #anyId(): string {
    return String(this.#random.one(this.#world.authors)._id);
  }

  #page(): ClientFilter {
    return this.#random.chance(0.5) ? { page: { $lt: this.#random.below(5) } } : {};
  }

  #referred(references: readonly string[]): ClientFilter {
    const random = this.#random;
    const reference = random.one(references);
    const place = reference !== "editor" && random.chance(0.15)
      ? {
        author: "author",
        authors: "authors.0",
        "chapters.editor": "chapters.1.editor",
      }[reference]
      : reference;
    const value = random.chance(0.1) ? "email" : random.one(VALUES);
    return { [`${place}.${value}`]: this.#condition(value) };
  }

  #condition(value: string): Json {
    const random = this.#random;
    if (random.chance(0.3)) return random.chance(0.15) ? null : this.#value(value);
    const operators = this.#operators(value);
    if (random.chance(0.25)) operators.$not = this.#operators(value);
    if (random.chance(0.2)) return { $not: operators };
    return operators;
  }

  #operators(value: string): ClientFilter {
    const operators: ClientFilter = {};
    for (let count = 1 + this.#random.below(2); count > 0; count--) {
      Object.assign(operators, this.#operator(value));
    }
    return operators;
  }

  #operator(value: string): ClientFilter {
    const random = this.#random;
    const some = () => Array.from({ length: 1 + random.below(2) }, () => this.#value(value));
    const name = random.one([
      ...["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$type"],
      ...["$all", "$size", "$regex", "$mod"],
    ]);
    switch (name) {
      case "$in":
      case "$nin":
        return { [name]: random.chance(0.2) ? [...some(), null] : some() };
      case "$all":
        return { $all: some() };
      case "$size":
        return { $size: random.below(2) };
      case "$exists":
        return { $exists: random.chance(0.5) };
      case "$type":
        return { $type: random.one<Json>(["string", "number", "null", ["string", "null"]]) };
      case "$mod":
        return { $mod: [2, random.below(2)] };
      case "$regex":
        return { $regex: random.one(["^a", "b", "n$", "c"]), $options: random.one(["", "i"]) };
      default:
        return { [name]: this.#value(value) };
    }
  }

  #value(value: string): Json {
    const random = this.#random;
    if (value === "born") return random.below(6);
    return value === "address.city" ? random.one(CITIES) : random.one(NAMES);
  }
}
