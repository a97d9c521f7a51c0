import type { Document } from "mongoose";
import { isDeepStrictEqual } from "node:util";
import type { Problems } from "../../errors/refusals.ts";
import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { rememberShape } from "../../schema/fields/instance_shapes.ts";
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
import { isAlwaysRequired, isLocked } from "../../schema/mongoose/schemas/field_rules.ts";
import { BodyCast, type NamedReference } from "./cast_body.ts";
import { noteSet } from "../set_paths.ts";
import { type MergeStep, MergeTarget } from "./merge_target.ts";

export interface Merged {
  readonly entity: object;
  readonly problems?: Problems;
  readonly references: readonly NamedReference[];
}

export function mergeBody(
  entity: object,
  { body, shape, isNew = false, replaces = false }: {
    readonly body: JsonObject;
    readonly shape: Shape;
    readonly isNew?: boolean;
    readonly replaces?: boolean;
  },
): Merged {
  const cast = new BodyCast("", new Map(), { runsSetters: !isDocument(entity) });
  const paths: string[] = [];
  const see = (path: string) => void paths.push(path);
  const step = { cast, whole: replaces, replaces, isNew, noteSet: see };
  const holder = { entity };
  const target = isDocument(entity)
    ? new DocumentTarget({ doc: entity, path: "" }, { ...step, root: entity })
    : new ObjectTarget({ holder, key: "entity" }, step);
  target.mergeFields(body, shape);
  if (isDocument(entity) && !entity.isNew) noteSet(entity, paths);
  return {
    entity: isDocument(entity) ? entity : rememberShape(holder.entity, shape),
    references: [...cast.references.values()],
    ...cast.hasProblems && { problems: cast.problems },
  };
}

type Values = Record<string, unknown>;

/** Copies the objects around a changed value, because hooks get the given entity as the previous one. */
class ObjectTarget extends MergeTarget {
  protected readonly holder: Values | Map<string, unknown>;
  readonly #key: string;

  constructor(
    { holder, key }: { holder: Values | Map<string, unknown>; key: string },
    step: MergeStep,
  ) {
    super(step);
    this.holder = holder;
    this.#key = key;
  }

  protected override read(): unknown {
    const { holder } = this;
    if (holder instanceof Map) return holder.get(this.#key);
    // A client may send inherited keys like `toString`.
    return Object.hasOwn(holder, this.#key) ? holder[this.#key] : undefined;
  }

  protected override write(value: unknown): void {
    const { holder } = this;
    if (holder instanceof Map) {
      if (value === undefined) holder.delete(this.#key);
      else holder.set(this.#key, value);
    } else if (value === undefined) delete holder[this.#key];
    else holder[this.#key] = value;
  }

  protected override isLocked({ type }: FieldShape): boolean {
    return this.step.isNew !== true && isLocked(type, this.holder);
  }

  override merge(value: unknown, field: FieldShape): void {
    if (!this.isLocked(field)) return super.merge(value, field);
    // An immutable field keeps its value, but a wrong value in the body is a problem.
    if (value !== null) this.step.cast.ignoringReferences().value(value, field);
  }

  protected override open(isEntry: boolean): (name: string) => MergeTarget {
    const current = this.read() as object;
    const holder: Values | Map<string, unknown> = current instanceof Map
      ? new Map(current)
      : Object.assign(Object.create(Object.getPrototypeOf(current)), current);
    this.write(holder);
    const { cast } = this.step;
    return (key) =>
      new ObjectTarget({ holder, key }, { ...this.step, cast: cast.at(key), isEntry });
  }

  protected override elements(list: readonly unknown[]): (index: number) => MergeTarget {
    this.write(list);
    const holder = list as unknown as Values;
    const { cast } = this.step;
    return (index) =>
      new ObjectTarget({ holder, key: `${index}` }, { cast: cast.at(index), whole: true });
  }

  protected override keys(): readonly string[] | undefined {
    const current = this.read();
    if (current instanceof Map) return [...current.keys()];
    return isJsonObject(current) ? Object.keys(current) : undefined;
  }

  protected override cleared(field: FieldShape): unknown {
    // Validation would give a missing required field its default and accept the body.
    return isAlwaysRequired(field.type) ? null : super.cleared(field);
  }
}

/** Sets only the paths that the body names, so that the save writes no others. */
class DocumentTarget extends MergeTarget {
  readonly #slot: Slot;
  readonly #root: Document;

  constructor(slot: Slot, step: MergeStep & { readonly root: Document }) {
    super(step);
    this.#slot = slot;
    this.#root = step.root;
  }

  protected override read(): unknown {
    return this.#slot.path === "" ? this.#slot.doc : readSlot(this.#slot);
  }

  protected override write(value: unknown): void {
    const { doc, path } = this.#slot;
    writeSlot(this.#slot, value);
    if (isLocked(doc.schema.path(path), doc)) return;
    this.step.noteSet?.(this.step.cast.path);
    // A PUT validates all values, so an unchanged one counts as modified too.
    if (this.step.replaces) doc.markModified(path);
  }

  protected override open(isEntry: boolean): (name: string) => MergeTarget {
    const { doc, path } = this.#slot;
    const current = this.read();
    const map = current instanceof Map ? current : undefined;
    return (name) => {
      // Mongoose writes only recorded changes. They are recorded in an embedded document, or for a nested path in the
      // document around it.
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
    const { doc } = this.#slot;
    return !doc.isNew && isLocked(type, doc);
  }

  protected override get holder(): object {
    return this.#slot.doc;
  }

  protected override mergeFree(patch: JsonObject): void {
    const { cast } = this.step;
    const changed: string[] = [];
    const set: string[] = [];
    const result = mergeFree(this.read() as JsonObject, patch, { cast, changed, set });
    if (cast.hasProblems) return;
    for (const each of set) this.step.noteSet?.(each);
    const { path } = this.#slot;
    const own = changed.map((each) => path + each.slice(cast.path.length));
    writeFree(this.#slot, result, { changed: own });
  }

  protected override mergeElements(list: readonly unknown[], field: FieldShape): boolean {
    if (!super.mergeElements(list, field)) return false;
    this.step.noteSet?.(this.step.cast.path);
    forgetChanges(this.#slot.doc, `${this.#slot.path}.`);
    forgetChanges(this.#root, `${this.step.cast.path}.`);
    return true;
  }
}

interface FreePaths {
  readonly cast: BodyCast;
  readonly changed: string[];
  readonly set: string[];
}

/** The value `undefined` makes the document remove a cleared key. */
function mergeFree(
  current: JsonObject,
  patch: JsonObject,
  { cast, changed, set }: FreePaths,
): JsonObject {
  const result: Record<string, unknown> = { ...current };
  const before = set.length;
  for (const [key, value] of cast.freeEntries(patch)) {
    const inner = cast.at(key);
    const own = Object.hasOwn(result, key) ? result[key] : undefined;
    if (isJsonObject(value) && isJsonObject(own)) {
      result[key] = mergeFree(own, value, { cast: inner, changed, set });
      continue;
    }
    const next = value === null ? undefined : inner.free(value);
    set.push(inner.path);
    if (isDeepStrictEqual(own, next)) continue;
    result[key] = next;
    changed.push(inner.path);
  }
  // Mongoose reads no path through an object with the key `_doc`, so the whole object counts as changed.
  if (set.length > before && Object.hasOwn(result, VALUES_KEY)) {
    changed.push(cast.path);
    set.push(cast.path);
  }
  return result;
}
