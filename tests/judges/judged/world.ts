import type { JudgedFilter, Value } from "../../q/q_judge.ts";

/** What is stored, as JSON. */
export type Doc = { [key: string]: Value };
export type Kind = "text" | "number" | "flag" | "free" | "map" | "texts";
export type LinkKind = "reference" | "references";

/** An entity itself, or a copy of it; `beside` has another one within, `text` the JSON of the entity. */
export type Copies = "itself" | "spread" | "object" | "beside" | "text";

/** A declared field. */
export interface FieldSpec {
  readonly kind: Kind | LinkKind | "object" | "objects";
  /** What keeps clients from it. */
  readonly guard?: "hidden" | "readonly" | "unselected" | undefined;
  readonly default?: Value | undefined;
  /** Whether a getter gives its text in capitals. */
  readonly getter?: boolean;
  readonly of?: ClassSpec;
}

/** A class. */
export interface ClassSpec {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** Whether the scope is the tenant of the request. */
  readonly scoped?: boolean;
  /** Whether it has `strict: false`. */
  readonly loose?: boolean;
  /** Whether it has a getter that answers show. */
  readonly virtual?: boolean;
  /** Whether a discriminator tells kinds of it apart. */
  readonly kinds?: boolean;
  /** What hooks give in the place of an entity. */
  readonly copies?: Copies;
}

/** An application, and what its database holds. */
export interface World {
  readonly root: ClassSpec;
  readonly target: ClassSpec;
  /** Whether lists have options. */
  readonly listed: boolean;
  /** Whether changes need `If-Match`. */
  readonly required: boolean;
  readonly roots: Doc[];
  readonly targets: Doc[];
}

/** A request. */
export interface Ask {
  readonly operation: "all" | "one" | "create" | "update" | "remove" | "removeAll";
  readonly tenant: string;
  readonly id: string;
  readonly part?: string | undefined;
  readonly subId: string;
  readonly q?: JudgedFilter | undefined;
  readonly body: Value;
  readonly query: Readonly<Record<string, string>>;
  /** The version in `If-Match`; `any` is `*`. */
  readonly match?: number | "any" | undefined;
}

/** What an answer must be. */
export interface Verdict {
  /** Its status is one of these. */
  readonly statuses: readonly number[];
  /** What is stored afterwards, if it succeeds. */
  readonly after: World;
  /** Whether the documentation leaves open what becomes of a value; nothing else may change then. */
  readonly unsure: boolean;
  /** The total of a list. */
  readonly total: number;
  /** What scope and `q` select. */
  readonly selected: readonly Doc[];
  /** Gives what it shows, of what is stored afterwards. */
  readonly shown: (stored: World) => unknown;
}

export interface Notes {
  bad: boolean;
  unsure: boolean;
}

/** Where a request acts: the entities there that the client may see. */
export interface Place {
  readonly spec: ClassSpec;
  readonly list: readonly Doc[];
  /** What holds a part, and the kind of its field. */
  readonly parent?: Doc | undefined;
  readonly kind?: FieldSpec["kind"] | undefined;
}

export interface Chosen {
  readonly at: Place;
  readonly chosen: readonly Doc[];
  readonly entity: Doc | undefined;
}

/** Whether the classes have no getters, because lean routes show stored values. */
export function isLean({ root }: World): boolean {
  return !JSON.stringify(root).includes('"getter":true');
}
