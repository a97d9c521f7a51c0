import { isLocked } from "../../schema/mongoose/schemas/field_rules.ts";
import { isDeepStrictEqual } from "node:util";
import type { Document } from "mongoose";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import {
  forgetChanges,
  readSlot,
  VALUES_KEY,
  writeElements,
  writeFree,
  writeSlot,
} from "../../schema/mongoose/documents/document_values.ts";
import type { Slot } from "../../schema/mongoose/documents/document_values.ts";
import type { BodyCast } from "./cast_body.ts";
import { MergeTarget } from "./merge_target.ts";
import type { MergeStep } from "./merge_target.ts";

interface DocumentStep extends MergeStep {
  readonly root: Document;
}

/** A value of a document. Only the paths that the body names are touched, so that only they are written. */
export class DocumentTarget extends MergeTarget {
  readonly #slot: Slot;
  readonly #root: Document;

  constructor(slot: Slot, step: DocumentStep) {
    super(step);
    this.#slot = slot;
    this.#root = step.root;
  }

  protected override read(): unknown {
    return this.#slot.path === "" ? this.#slot.doc : readSlot(this.#slot);
  }

  protected override write(value: unknown): void {
    writeSlot(this.#slot, value);
  }

  protected override open(isEntry: boolean): (name: string) => MergeTarget {
    const { doc, path } = this.#slot;
    const current = this.read();
    const map = current instanceof Map ? current : undefined;
    return (name) => {
      // An object tracks its changes itself, unless it is made of dotted paths.
      const slot = isDocument(current)
        ? { doc: current, path: name }
        : { doc, path: `${path}.${name}`, ...map && { map, key: name } };
      const cast = this.step.cast.at(name);
      return new DocumentTarget(slot, { ...this.step, cast, isEntry, root: this.#root });
    };
  }

  protected override elements(list: readonly unknown[]): (index: number) => MergeTarget {
    writeElements(this.#slot, list);
    return (index) => {
      const step = { cast: this.step.cast.at(index), whole: true, root: this.#root };
      return new DocumentTarget({ doc: list[index] as Document, path: "" }, step);
    };
  }

  protected override keys(): readonly string[] | undefined {
    const current = this.read();
    return current instanceof Map ? [...current.keys()] : undefined;
  }

  protected override isLocked({ type }: FieldShape): boolean {
    return isLocked(type, this.#slot.doc);
  }

  protected override get holder(): object {
    return this.#slot.doc;
  }

  protected override mergeFree(patch: JsonObject): void {
    const { cast } = this.step;
    const changed: string[] = [];
    const result = mergeFree(this.read() as JsonObject, patch, { cast, changed });
    if (cast.hasProblems) return;
    const { path } = this.#slot;
    const own = changed.map((each) => path + each.slice(cast.path.length));
    writeFree(this.#slot, result, { changed: own });
  }

  protected override mergeElements(list: readonly unknown[], field: FieldShape): boolean {
    if (!super.mergeElements(list, field)) return false;
    forgetChanges(this.#slot.doc, `${this.#slot.path}.`);
    forgetChanges(this.#root, `${this.step.cast.path}.`);
    return true;
  }
}

interface FreeMerge {
  readonly cast: BodyCast;
  /** Takes the paths that have changed. */
  readonly changed: string[];
}

/** Merges into a copy of free-form data. A key that is cleared keeps `undefined`: the document removes it. */
function mergeFree(current: JsonObject, patch: JsonObject, { cast, changed }: FreeMerge) {
  const result: Record<string, unknown> = { ...current };
  const before = changed.length;
  for (const [key, value] of cast.freeEntries(patch)) {
    const inner = cast.at(key);
    const own = Object.hasOwn(result, key) ? result[key] : undefined;
    if (isJsonObject(value) && isJsonObject(own)) {
      result[key] = mergeFree(own, value, { cast: inner, changed });
      continue;
    }
    const next = value === null ? undefined : inner.free(value);
    if (isDeepStrictEqual(own, next)) continue;
    result[key] = next;
    changed.push(inner.path);
  }
  // Mongoose reads no path through an object with such a key.
  if (changed.length > before && Object.hasOwn(result, VALUES_KEY)) changed.push(cast.path);
  return result;
}
