import type { StoredAs } from "../types/json_types.ts";

/** How the transcoder writes a value. A value without a plan is written as it is stored. */
export interface ValuePlan extends StoredAs {
  readonly object?: Plan;
  /** Of an array: the plan of each element. */
  readonly items?: ValuePlan;
}

/** The `types` of a value that may be anything. */
export const ANY = -1;

/** Room for a comma and any value of a fixed size, quotes included. */
export const ROOM = 64;

/** How the transcoder writes an object. An object without a plan is written whole. */
export interface Plan {
  /** The fields by name; others are left out. */
  readonly fields: ReadonlyMap<string, FieldPlan>;
  readonly defaults: readonly Default[];
  /** Whether such an object may hold others of its kind. */
  readonly recursive: boolean;
  /** Of an object whose keys are data: the plan of each value. */
  readonly values?: ValuePlan;
  /** The fields in the order in which the last object had them: a guess at the next one. */
  readonly order: (FieldPlan | undefined)[];
  /** How many objects were written by the plan, so that each has a number. */
  objects: number;
}

export interface FieldPlan extends ValuePlan {
  readonly property: string;
  /** The bytes of that. */
  readonly name: Uint8Array;
  /** The name in JSON text, with quotes and colon. */
  readonly key: Uint8Array;
  /** 1 for a field with a default, else 0. */
  readonly expected: 0 | 1;
  /** The number of the object in which the field was last seen: twice in one is a duplicate key. */
  seen: number;
}

export interface Default {
  readonly field: FieldPlan;
  /** The JSON text, key included; empty for a default that only Mongoose can compute. */
  readonly text: Uint8Array;
}
