import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import { freezeDeeply } from "../../schema/fields/freeze.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { Types } from "../../schema/mongoose/bson.ts";
import {
  BsonReader,
  readInt32,
  readInt64,
  UnknownTypeError,
} from "../../json/bytes/bson_reader.ts";
import { TIME_RANGE } from "../../json/json_types.ts";
import { readFields } from "../entity_fields.ts";
import { declaredType } from "./declared_types.ts";
import { type FieldReader, fieldReader } from "./instance_maker.ts";
import { documentOfFields, foundDocument } from "./found_document.ts";

interface Named extends FieldReader {
  readonly key: Uint8Array;
  readonly isOfType: (stored: unknown) => boolean;
}

interface NamedReaderOptions {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  readonly names: readonly string[];
  /** A change reads the whole entity, so its hooks also get embedded fields with `select: false`. */
  readonly forChange: boolean;
}

const { BSON } = mongoose.mongo;

export class NamedReader {
  readonly #model: Model<unknown>;
  readonly #names: readonly string[];
  readonly #fields: readonly Named[];
  readonly #leavesOut: boolean;

  constructor({ model, shape, names, forChange }: NamedReaderOptions) {
    this.#model = model;
    this.#names = names;
    const leavesOut = this.#leavesOut = !forChange;
    this.#fields = [...new Set(["_id", ...names])].flatMap((name) => {
      const field = shape.fields.get(name);
      if (field === undefined) return [];
      const isOfType = declaredType(field);
      return [{ ...fieldReader(name, field, { leavesOut }), isOfType, key: Buffer.from(name) }];
    });
  }

  /** A default may depend on other fields, so the whole entity is read. */
  get needsWhole(): boolean {
    return this.#fields.some(({ missing }) => missing === undefined);
  }

  read(stored: Buffer): object {
    const found = this.#find(stored);
    const values: Record<string, unknown> = {};
    const fields = this.#fields;
    for (let index = 0; index < fields.length; index++) {
      const { name, convert, missing, isOfType } = fields[index] as Named;
      const value = found[index];
      if (value === undefined ? missing === undefined : !isOfType(value)) return this.#cast(stored);
      const held = value === undefined ? missing?.() : convert(value);
      if (held !== undefined) values[name] = freezeDeeply(held);
    }
    return Object.freeze(values);
  }

  /** If a value needs a cast or a computed default, a document makes all values. */
  #cast(stored: Buffer): object {
    const options = this.#model.db.getClient().bsonOptions;
    const values = BSON.deserialize(stored, { ...options, ...LOOSE });
    const doc = this.needsWhole
      ? foundDocument(this.#model, { values })
      : documentOfFields(this.#model, { values, names: this.#names });
    return readFields(doc, { names: this.#names, leavesOut: this.#leavesOut });
  }

  #find(stored: Buffer): unknown[] {
    const options = this.#model.db.getClient().bsonOptions as Readonly<Record<string, unknown>>;
    const isUsual = options.promoteValues !== false && options.raw !== true;
    const found: unknown[] = [];
    const slices: Buffer[] = [];
    const source = new BsonReader(stored);
    try {
      for (const end = source.open(); source.next(end);) {
        const index = this.#indexAt(source);
        const start = source.at - 1;
        source.skipName();
        if (index < 0) {
          source.skip();
          continue;
        }
        const value = isUsual ? scalarAt(source) : undefined;
        found[index] = value;
        if (value === undefined) {
          source.skip();
          slices.push(stored.subarray(start, source.at));
        }
      }
    } catch (error) {
      if (!(error instanceof UnknownTypeError)) throw error;
      return this.#decoded(BSON.deserialize(stored, { ...options, ...LOOSE }));
    }
    if (slices.length === 0) return found;
    const others = this.#decoded(BSON.deserialize(documentOf(slices), { ...options, ...LOOSE }));
    return this.#fields.map((_, index) =>
      found[index] === undefined ? others[index] : found[index]
    );
  }

  #indexAt(source: BsonReader): number {
    const fields = this.#fields;
    for (let index = 0; index < fields.length; index++) {
      if (source.isNamed((fields[index] as Named).key)) return index;
    }
    return -1;
  }

  #decoded(values: Readonly<Record<string, unknown>>): unknown[] {
    return this.#fields.map(({ name }) => Object.hasOwn(values, name) ? values[name] : undefined);
  }
}

const IDS_AT_ONCE = 256;

/** A separate buffer for each identifier would be slow. Without a copy, each would keep the whole reply in memory. */
class IdMaker {
  #copies = Buffer.alloc(0);
  #at = 0;

  make(bytes: Buffer, start: number): unknown {
    if (this.#at === this.#copies.length) {
      this.#copies = Buffer.allocUnsafeSlow(IDS_AT_ONCE * 12);
      this.#at = 0;
    }
    const copies = this.#copies;
    const at = this.#at;
    for (let index = 0; index < 12; index++) copies[at + index] = bytes[start + index] as number;
    this.#at = at + 12;
    return new Types.ObjectId(copies.subarray(at, at + 12));
  }
}

const ids = new IdMaker();

const LOOSE = { validation: { utf8: false } } as const;

/** The bytes are copied, because a hook could change the stored document through them. */
function documentOf(elements: readonly Buffer[]): Buffer {
  const size = elements.reduce((sum, { length }) => sum + length, 5);
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeInt32LE(size);
  let at = 4;
  for (const each of elements) at += each.copy(bytes, at);
  bytes[at] = 0;
  return bytes;
}

/** Returns `undefined`, without moving the reader, if only the driver can decode the value. */
function scalarAt(source: BsonReader): unknown {
  const { type, bytes, at } = source;
  switch (type) {
    case 0x01:
      source.at = at + 8;
      return bytes.readDoubleLE(at);
    case 0x02: {
      const end = at + 4 + readInt32(bytes, at) - 1;
      source.at = end + 1;
      return bytes.toString("utf8", at + 4, end);
    }
    case 0x07:
      source.at = at + 12;
      return ids.make(bytes, at);
    case 0x08:
      source.at = at + 1;
      return bytes[at] !== 0;
    case 0x09: {
      const time = readInt64(bytes, at);
      if (Math.abs(time) > TIME_RANGE) return undefined;
      source.at = at + 8;
      return new Date(time);
    }
    case 0x0a:
      return null;
    case 0x10:
      source.at = at + 4;
      return readInt32(bytes, at);
    default:
      return undefined;
  }
}
