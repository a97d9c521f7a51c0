import { Buffer } from "node:buffer";
import { isJsonObject } from "../schema/fields/json.ts";
import { JsonWriter, PIECE_BYTES } from "./bytes/json_writer.ts";
import { type FieldPlan, ROOM, type ValuePlan } from "./transcode/plan.ts";
import type { FieldWriter, Transcoder } from "./transcode/transcoder.ts";

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

/** The identifiers to read, as JSON, by reference field. */
export type Wanted = ReadonlyMap<string, Set<string>>;

/** `null` for an entity that no longer exists. An identifier without an entry is shown unchanged. */
export type FieldTargets = ReadonlyMap<string, JsonText | null>;

export type Targets = ReadonlyMap<string, FieldTargets>;

export interface TargetFinder {
  readonly names: ReadonlySet<string>;
  readonly asked: ReadonlySet<string>;
  /** The shown fields besides `_id`. `undefined` means all. */
  readonly shown: ReadonlyMap<string, readonly string[] | undefined>;
  /** Sends one query for each reference field. The caller must limit the time. */
  find(wanted: Wanted): Promise<Targets>;
}

export function wantNothing({ names }: TargetFinder): Wanted {
  return new Map(Array.from(names, (name) => [name, new Set<string>()]));
}

type ReferenceText = string | readonly string[];

function want(ids: Set<string>, held: ReferenceText): void {
  if (typeof held !== "string") held.forEach((each) => want(ids, each));
  else if (isIdentifierText(held)) ids.add(held);
}

/** `null` and objects name no entity to read. */
function isIdentifierText(json: string): boolean {
  return /^["\d-]/.test(json);
}

/** A reference to an entity that no longer exists becomes `null`, and is left out of an array. */
function populated(held: ReferenceText, found: FieldTargets): (string | JsonText)[] {
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

export function wantIn(entity: unknown, wanted: Wanted): void {
  if (!isJsonObject(entity)) return;
  for (const [name, ids] of wanted) {
    const held = Object.hasOwn(entity, name) ? heldIn(entity[name]) : undefined;
    if (held !== undefined) want(ids, held);
  }
}

export function populatedText(entity: unknown, targets: Targets): string {
  if (!isJsonObject(entity)) return JSON.stringify(entity) ?? "null";
  const entries: string[] = [];
  for (const key of Object.keys(entity)) {
    const text = fieldText(entity[key], targets.get(key));
    if (text !== undefined) entries.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${entries.join(",")}}`;
}

function fieldText(value: unknown, found: FieldTargets | undefined): string | undefined {
  if (found === undefined) return JSON.stringify(value);
  const held = heldIn(value);
  return held &&
    populated(held, found).map((each) => typeof each === "string" ? each : each.text).join("");
}

function heldIn(value: unknown): ReferenceText | undefined {
  // As in `JSON.stringify()`, `undefined` is left out of objects and becomes `null` in arrays.
  const textOf = (each: unknown): string | undefined => JSON.stringify(each);
  return Array.isArray(value) ? value.map((each) => textOf(each) ?? "null") : textOf(value);
}

/** A position in the output at which the JSON of referenced entities is inserted later. */
export type Mark =
  & { readonly at: number }
  & ({ readonly name: string; readonly held: ReferenceText } | { readonly entity: unknown });

export interface MarkedJson {
  readonly written: Buffer;
  readonly marks: readonly Mark[];
}

export function wantedIn(texts: readonly MarkedJson[], finder: TargetFinder): Wanted {
  const wanted = wantNothing(finder);
  for (const mark of texts.flatMap(({ marks }) => marks)) {
    if ("entity" in mark) wantIn(mark.entity, wanted);
    else want(wanted.get(mark.name) as Set<string>, mark.held);
  }
  return wanted;
}

export function* fillMarked({ written, marks }: MarkedJson, targets: Targets): Generator<Buffer> {
  const size = Math.min(PIECE_BYTES, written.length * 2) + 1024;
  let out = new JsonWriter(size);
  let done = 0;
  for (const mark of marks) {
    out.copy(written.subarray(done, mark.at));
    done = mark.at;
    if ("entity" in mark) out.text(populatedText(mark.entity, targets));
    else {
      for (const part of populated(mark.held, targets.get(mark.name) ?? NONE)) {
        if (typeof part !== "string") out.copy(part.bytes);
        else if (part.length === 1) {
          out.reserve(1);
          out.byte(part.charCodeAt(0));
        } else out.text(part);
      }
    }
    if (out.length < PIECE_BYTES) continue;
    yield out.written;
    out = new JsonWriter(size);
  }
  out.copy(written.subarray(done));
  if (out.length > 0) yield out.written;
}

const NONE: FieldTargets = new Map();

const TEXT = 0x02;
const ARRAY = 0x04;

export class Marking implements FieldWriter {
  readonly marks: Mark[] = [];
  readonly #names: ReadonlySet<string>;

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  take(transcoder: Transcoder, field: FieldPlan): boolean {
    if (!this.#names.has(field.property)) return false;
    const { source, out } = transcoder;
    const { items } = field;
    const held = source.type === ARRAY && items !== undefined
      ? takeAll(transcoder, items)
      : takeValue(transcoder, field);
    this.marks.push({ at: out.length, name: field.property, held });
    return true;
  }

  /**
   * If Mongoose must write an entity after all, the marks of its fields are wrong, and a mark of the whole entity
   * replaces them.
   */
  replace(at: number, entity: unknown): void {
    while ((this.marks.at(-1)?.at ?? 0) > at) this.marks.pop();
    this.marks.push({ at, entity });
  }
}

function takeAll(transcoder: Transcoder, items: ValuePlan): string[] {
  const { source } = transcoder;
  const held: string[] = [];
  for (const end = source.open(); source.next(end);) {
    source.skipName();
    held.push(takeValue(transcoder, items));
  }
  return held;
}

function takeValue(transcoder: Transcoder, plan: ValuePlan): string {
  const { out, source: { type } } = transcoder;
  const start = out.length;
  out.reserve(ROOM);
  transcoder.value(plan);
  const text = out.bytes.toString(type === TEXT ? "utf8" : "latin1", start, out.length);
  out.length = start;
  return text;
}
