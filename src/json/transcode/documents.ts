import { Buffer } from "node:buffer";
import { BsonReader, readInt32, readInt64, UnknownTypeError } from "../bytes/bson_reader.ts";
import type { JsonWriter, Separator } from "../bytes/json_writer.ts";
import type { Plan } from "./plan.ts";
import { Transcoder } from "./transcoder.ts";
import type { FieldWriter } from "./transcoder.ts";

export interface DocumentWriterOptions {
  /** Gives the JSON text of a document with a value that only Mongoose can write. */
  readonly decode: (document: Buffer) => string;
  readonly fieldWriter?: FieldWriter;
}

export class DocumentWriter {
  readonly #plan: Plan;
  readonly #options: DocumentWriterOptions;

  constructor(plan: Plan, options: DocumentWriterOptions) {
    this.#plan = plan;
    this.#options = options;
  }

  document(source: BsonReader, out: JsonWriter): void {
    this.#write(this.#open(source, out));
  }

  /**
   * Writes the documents of an array with separators between them, without brackets. It pauses after so many bytes, and
   * returns how many documents there were.
   */
  *array(
    source: BsonReader,
    { out, separator = ",", most = Infinity }: {
      readonly out: JsonWriter;
      readonly separator?: Separator | undefined;
      readonly most?: number;
    },
  ): Generator<void, number> {
    const transcoder = this.#open(source, out);
    let count = 0;
    let begun = source.at;
    for (const end = source.open(); source.next(end);) {
      if (source.at - begun > most) {
        yield;
        begun = source.at;
      }
      source.skipName();
      if (count++ > 0) out.ascii(separator);
      this.#write(transcoder);
    }
    return count;
  }

  #open(source: BsonReader, out: JsonWriter): Transcoder {
    return new Transcoder(source, { out, fieldWriter: this.#options.fieldWriter });
  }

  #write(transcoder: Transcoder): void {
    const { source, out } = transcoder;
    const start = source.at;
    const before = out.length;
    try {
      transcoder.entity(this.#plan);
    } catch (error) {
      if (!(error instanceof UnknownTypeError)) throw error;
      source.at = start;
      out.length = before;
      out.text(this.#options.decode(source.take(readInt32(source.bytes, start))));
    }
  }
}

export function documentsIn(array: Buffer, start: number): Buffer[] {
  const source = new BsonReader(array, start);
  const documents: Buffer[] = [];
  for (const end = source.open(); source.next(end);) {
    source.skipName();
    documents.push(source.take(readInt32(array, source.at)));
  }
  return documents;
}

/** The first bytes of a document that begins with an ObjectId: the type, and the name. */
const OBJECT_ID = [0x07, 0x5f, 0x69, 0x64, 0x00];

export function identifierIn(document: Buffer): string | undefined {
  const start = 4 + OBJECT_ID.length;
  const begins = OBJECT_ID.every((byte, index) => document[4 + index] === byte);
  return begins ? document.toString("hex", start, start + 12) : undefined;
}

const DOUBLE = 0x01;
const INT32 = 0x10;
const INT64 = 0x12;

export function numberIn(document: Buffer, name: string): number | undefined {
  const source = new BsonReader(document);
  const key = Buffer.from(name);
  for (const end = source.open(); source.next(end);) {
    const isFound = source.isNamed(key);
    source.skipName();
    if (isFound) return numberAt(source);
    source.skip();
  }
  return undefined;
}

function numberAt({ type, bytes, at }: BsonReader): number | undefined {
  switch (type) {
    case INT32:
      return readInt32(bytes, at);
    case DOUBLE:
      return bytes.readDoubleLE(at);
    case INT64:
      return readInt64(bytes, at);
    default:
      return undefined;
  }
}
