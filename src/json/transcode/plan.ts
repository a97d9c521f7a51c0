/** What the transcoder does with a value. Where there is no plan for it, it writes whatever is there. */
export interface ValuePlan {
  /** The BSON types that the value is made for, a bit each: `1 << type`. Any other is left to whoever called. */
  readonly types: number;
  /** What bytes are: always base64, or nothing but a UUID. */
  readonly bytes?: "base64" | "uuid";
  /** The plan of an object. */
  readonly object?: Plan;
  /** The plan of an array's elements. */
  readonly items?: ValuePlan;
}

/** The `types` of a value that may be anything. */
export const ANY = -1;

/**
 * What the transcoder does with an object: which fields it writes, and what stands for those that are missing. Where
 * there is no plan, everything is written.
 */
export interface Plan {
  /** The fields by name; others are left out. */
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** What stands for declared fields that are missing. */
  readonly defaults: readonly Default[];
  /** Whether such an object may hold others of its kind. */
  readonly recursive: boolean;
  /** Of an object whose keys are data: the plan of each value. */
  readonly values?: ValuePlan;
  /** The fields in the order in which the last object had them: a guess at the next one. */
  readonly order: (FieldPlan | undefined)[];
}

/** What the transcoder does with one field. */
export interface FieldPlan extends ValuePlan {
  /** The name, as it is stored. */
  readonly name: Uint8Array;
  /** The name as it stands in JSON text, with quotes and colon. */
  readonly key: Uint8Array;
  /** 1 for a field with a default, else 0. */
  readonly expected: 0 | 1;
  /** The number of the object in which the field was last seen: twice in one is a duplicate key. */
  seen: number;
}

/** What stands for a field that is missing. */
export interface Default {
  /** The field. */
  readonly field: FieldPlan;
  /** The JSON text, key included; empty where only Mongoose can tell. */
  readonly text: Uint8Array;
}
