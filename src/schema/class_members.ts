import type { Schema } from "mongoose";
import { chainOf } from "../declare/model/describe_model.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";

/** Statics that speak to the framework, or that every function has. */
const OWN_STATICS = new Set(["length", "name", "prototype", "configure", "schemaOptions"]);

/** The body of a member that reads or calls a `#private` one: a document is no instance of the class. */
const PRIVATE_ACCESS = /\bthis\s*\??\.\s*#[\p{ID_Start}$_]/u;

/** Puts the methods, getters, setters and statics of a class and its ancestors on Mongoose's schema. */
export function addClassMembers(target: ModelClass, schema: Schema): void {
  // The last one of a name counts: Mongoose would run the getters and setters of parent and child, one after another.
  const members = new Map<string, PropertyDescriptor>();
  for (const owner of chainOf(target)) {
    const own = Object.getOwnPropertyDescriptors(owner.prototype);
    for (const [name, member] of Object.entries(own)) {
      if (name === "constructor") continue;
      for (const part of [member.value, member.get, member.set]) refusePrivate(name, part);
      members.set(name, member);
    }
  }
  for (const member of members) addInstanceMember(schema, member);
  for (const [name, member] of staticsOf(target)) {
    if ("value" in member) schema.static(name, member.value);
  }
}

function addInstanceMember(schema: Schema, [name, member]: [string, PropertyDescriptor]): void {
  const { value, get, set } = member;
  if (typeof value === "function") return void schema.method(name, value);
  if (schema.path(name) !== undefined) return;
  const virtual = schema.virtual(name);
  if (get !== undefined) virtual.get(get);
  if (set !== undefined) virtual.set(set);
}

/** Puts the static getters and setters of a class and its ancestors on its model: Mongoose copies values only. */
export function addStaticAccessors(target: ModelClass, model: object): void {
  for (const [name, member] of staticsOf(target)) {
    if (!("value" in member)) Object.defineProperty(model, name, member);
  }
}

function staticsOf(target: ModelClass): [string, PropertyDescriptor][] {
  const members = chainOf(target).flatMap((each) =>
    Object.entries(Object.getOwnPropertyDescriptors(each))
  );
  return members.filter(([name]) => !OWN_STATICS.has(name));
}

function refusePrivate(name: string, member: unknown): void {
  if (
    typeof member === "function" && PRIVATE_ACCESS.test(Function.prototype.toString.call(member))
  ) {
    throw new TypeError(
      `member "${name}" works on a #private member, which a document could not serve`,
    );
  }
}
