import { Buffer } from "node:buffer";

/** JSON text as a string or as its bytes: the other form is made when it is first needed. */
export class JsonText {
  #text: string | undefined;
  #bytes: Buffer | undefined;

  constructor(json: string | Buffer) {
    if (typeof json === "string") this.#text = json;
    else this.#bytes = json;
  }

  get text(): string {
    return this.#text ??= (this.#bytes as Buffer).toString();
  }

  get bytes(): Buffer {
    return this.#bytes ??= Buffer.from(this.#text as string);
  }
}

/** The identifiers in the references of some entities: JSON text, by the name of the field. */
export type Wanted = ReadonlyMap<string, Set<string>>;

/** What identifiers of one field become: entities, or `null` where they are gone. Any other value stays. */
export type FieldTargets = ReadonlyMap<string, JsonText | null>;

export type Targets = ReadonlyMap<string, FieldTargets>;

/** Finds the entities that references name. */
export interface TargetFinder {
  readonly names: ReadonlySet<string>;
  /** Finds what identifiers name: one query for each field that holds any. The caller bounds the wait. */
  find(wanted: Wanted): Promise<Targets>;
}

export function wantNothing({ names }: TargetFinder): Wanted {
  return new Map(Array.from(names, (name) => [name, new Set<string>()]));
}

/** The JSON text of a reference: one value, or those of an array. */
export type ReferenceText = string | readonly string[];

/** Notes the identifiers that a reference may hold. */
export function want(ids: Set<string>, held: ReferenceText): void {
  if (typeof held !== "string") held.forEach((each) => want(ids, each));
  else if (isScalar(held)) ids.add(held);
}

/** Whether JSON text may be an identifier: a string or a number. */
function isScalar(json: string): boolean {
  return /^["\d-]/.test(json);
}

/** Gives what is shown of a reference, in pieces. What is gone is `null`, and left out of an array. */
export function populated(held: ReferenceText, found: FieldTargets): (string | JsonText)[] {
  if (typeof held === "string") return [shown(held, found) ?? "null"];
  const pieces: (string | JsonText)[] = ["["];
  for (const each of held) {
    const piece = shown(each, found);
    if (piece === null) continue;
    if (pieces.length > 1) pieces.push(",");
    pieces.push(piece);
  }
  pieces.push("]");
  return pieces;
}

function shown(json: string, found: FieldTargets): string | JsonText | null {
  if (json === "null") return null;
  const target = found.get(json);
  return target === undefined ? json : target;
}
