const MAX_ELEMENTS = 100;

/** Further fields of an object count as one field. */
const MAX_FIELDS = 1000;

const MAX_IDENTIFIERS = 100;

interface BsonValue {
  readonly _bsontype?: string;
  readonly "sub_type"?: number;
  readonly value?: unknown;
}

/** The types of the values at one path. No values are kept, except identifiers. */
export class Seen {
  /** How often each type occurs, `Null` among them. */
  readonly kinds = new Map<string, number>();
  readonly fields = new Map<string, Seen>();
  readonly elements: Seen[] = [];
  readonly identifiers = new Map<string, unknown>();
  #position = 0;
  hasFraction = false;
  /** Whether a string or a buffer is empty. Mongoose takes it for missing, so the field is not required. */
  hasEmpty = false;

  add(value: unknown): void {
    const kind = this.#kindOf(value);
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    if (kind === "Object") {
      for (const [index, [name, each]] of Object.entries(value as object).entries()) {
        const field = this.#field(name);
        field.#position += index;
        field.add(each);
      }
    } else if (kind === "Array") {
      const list = this.elements[0] ??= new Seen();
      for (const each of (value as unknown[]).slice(0, MAX_ELEMENTS)) list.add(each);
    } else if (IDENTIFIERS.has(kind) && this.identifiers.size < MAX_IDENTIFIERS) {
      const text = String(value);
      if (text.length <= 100) this.identifiers.set(text, value);
    }
  }

  merge(other: Seen): void {
    for (const [kind, count] of other.kinds) {
      this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + count);
    }
    for (const [name, field] of other.fields) this.#field(name).merge(field);
    for (const list of other.elements) (this.elements[0] ??= new Seen()).merge(list);
    this.#position += other.#position;
    this.hasFraction ||= other.hasFraction;
    this.hasEmpty ||= other.hasEmpty;
  }

  /** Sorts by the average position, so that the order of the sampled objects does not matter. */
  get sortedFields(): readonly (readonly [string, Seen])[] {
    const positionOf = (field: Seen) => field.#position / field.count;
    return [...this.fields].sort(([a, one], [b, other]) =>
      positionOf(one) - positionOf(other) || (a < b ? -1 : 1)
    );
  }

  get sortedKinds(): readonly (readonly [string, number])[] {
    return [...this.kinds].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  }

  get count(): number {
    return [...this.kinds.values()].reduce((sum, count) => sum + count, 0);
  }

  #field(name: string): Seen {
    const key = this.fields.size < MAX_FIELDS || this.fields.has(name) ? name : "…";
    const field = this.fields.get(key) ?? new Seen();
    this.fields.set(key, field);
    return field;
  }

  #kindOf(value: unknown): string {
    if (value === null || value === undefined) return "Null";
    if (typeof value === "string") {
      this.hasEmpty ||= value === "";
      return "String";
    }
    if (typeof value === "boolean") return "Boolean";
    if (value instanceof Date) return "Date";
    if (Array.isArray(value)) return "Array";
    // Only values of the driver inherit `_bsontype`. A stored key of this name is data, which reports must not show.
    if (Object.hasOwn(value as object, "_bsontype")) return "Object";
    const { _bsontype: type, sub_type: subType, value: inner } = value as BsonValue;
    if (type === "Long") return Number.isSafeInteger(Number(value)) ? "Number" : "BigInt";
    if (type === "Int32" || type === "Double") {
      this.hasFraction ||= !Number.isInteger(inner);
      return "Number";
    }
    if (type !== "Binary") return type ?? (value instanceof RegExp ? "RegExp" : "Object");
    this.hasEmpty ||= (value as { length(): number }).length() === 0;
    return subType === 4 ? "UUID" : subType === 6 ? "encrypted Binary" : "Buffer";
  }
}

const IDENTIFIERS: ReadonlySet<string> = new Set(["ObjectId", "UUID", "String", "Number"]);
