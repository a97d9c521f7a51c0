import type { FrameworkRequest } from "../../../mod.ts";

/** Whom requests are from. */
export const ROLES = ["customer", "clerk", "agent"] as const;
export type Role = (typeof ROLES)[number];

/** For whom a model is built: for one role, or for all of them, by functions. */
export type View = Role | "functions";

/** From whom something is kept: from some roles, or from everyone. */
export type Rule = readonly Role[] | true;

/** A field of a class that is made. */
export interface FieldSpec {
  readonly kind:
    | "text"
    | "number"
    | "flag"
    | "date"
    | "texts"
    | "free"
    | "words"
    | "object"
    | "objects"
    | "things"
    | "reference"
    | "references";
  readonly hidden?: Rule | undefined;
  readonly readonly?: Rule | undefined;
  /** Options of Mongoose, the same for everyone. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** The class that it embeds. */
  readonly of?: ClassSpec | undefined;
  /** Whether it has routes. */
  readonly routed?: boolean;
}

export interface ClassSpec {
  readonly fields: Readonly<Record<string, FieldSpec>>;
}

/** What a hook gives in the place of an entity. */
export type Shown =
  | "itself"
  | "spread"
  | "object"
  | "around"
  | "list"
  | "map"
  | "set"
  | "other"
  | "copies";

/** What the hooks below `/slow` do. */
export interface Hooks {
  readonly shown: Shown;
  readonly postFetch: boolean;
  readonly preSave: boolean;
  readonly persist: boolean;
  /** What the `preFetch` hook of reads asks for. */
  readonly steers?: "sort" | "populate" | "project" | "filter" | "count" | undefined;
}

/** A value as JSON has it; identifiers and dates are texts of their form. */
export type Doc = Readonly<Record<string, unknown>>;

/** An application and its data. */
export interface World {
  readonly root: ClassSpec;
  readonly target: ClassSpec;
  readonly scoped: boolean;
  readonly hooks: Hooks;
  readonly schemaOptions: Readonly<Record<string, unknown>>;
  readonly plugged: boolean;
  /** Whether operations list what filters may name. */
  readonly filtered: boolean;
  /** A field that entities and parts of one kind, a discriminator, have beyond the others; none where there are no kinds. */
  readonly extra?: FieldSpec | undefined;
  readonly populated: "all" | "some" | "always";
  /** Whether the writes of roots are recorded. */
  readonly history: boolean;
  readonly roots: readonly Doc[];
  readonly targets: readonly Doc[];
}

/** A request. */
export interface Ask {
  readonly role: Role;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Which of the tags that answers had is sent back, and how. */
  readonly tag?: "if-match" | "if-none-match" | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it follows the last `Link` of another answer instead. */
  readonly follows: boolean;
}

const rules = new Map<string, (req: FrameworkRequest) => boolean>();

/** Gives the function that keeps something from some roles: always the same for the same roles and owner. */
function ruleFor(roles: readonly Role[], owner: string): (req: FrameworkRequest) => boolean {
  const key = `${owner} ${roles.join()}`;
  let rule = rules.get(key);
  if (rule === undefined) {
    rules.set(key, rule = ({ headers }) => roles.some((role) => role === headers["x-role"]));
  }
  return rule;
}

/** Whether a rule holds for a role. */
export function holdsFor(rule: Rule | undefined, role: Role): boolean {
  return rule === true || rule?.includes(role) === true;
}

/** Gives the options `hidden` and `readonly` of a field for a view. Fields of one owner share their functions. */
export function guardOf({ hidden, readonly }: FieldSpec, view: View, owner = ""): object {
  if (view === "functions") {
    const option = (rule: Rule | undefined) => Array.isArray(rule) ? ruleFor(rule, owner) : rule;
    return {
      ...hidden && { hidden: option(hidden) },
      ...readonly && { readonly: option(readonly) },
    };
  }
  const isHidden = holdsFor(hidden, view);
  // Whom a function keeps from seeing a field, it keeps from setting it.
  const isReadonly = holdsFor(readonly, view) || isHidden && hidden !== true;
  return { ...isHidden && { hidden: true }, ...isReadonly && { readonly: true } };
}

/** Whether a field may stand in the options of a list, for a view. */
export function isListed({ hidden, options }: FieldSpec, view: View): boolean {
  if (options?.select === false || options?.apart === true || hidden === true) return false;
  return view === "functions" || !holdsFor(hidden, view);
}

/** Gives the paths that may stand in the option `filter`, for a view. */
export function listedPaths({ fields }: ClassSpec, view: View): string[] {
  return Object.entries(fields).filter(([, field]) => isListed(field, view)).flatMap(
    ([name, { kind, of }]) =>
      of === undefined
        ? name
        : listedPaths(of, view).map((path) => `${name}.${kind === "things" ? "k." : ""}${path}`),
  );
}
