/** An event of a stream. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string;
  /** The `id` of the event, or the last one before it. */
  readonly place: string | undefined;
}

/** Reads the events of `text/event-stream` from pieces of bytes, wherever these are cut. */
export class EventParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #endsInReturn = false;
  #type = "";
  #data: string[] = [];
  #place: string | undefined;

  /** Gives the events that end in the next bytes. */
  push(bytes: Uint8Array): StreamEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    if (this.#endsInReturn && text.startsWith("\n")) text = text.slice(1);
    this.#endsInReturn = text.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n?|\n/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => line === "" ? this.#end() : this.#read(line));
  }

  #read(line: string): StreamEvent[] {
    const [name = ""] = line.split(":", 1);
    const value = line.slice(name.length + 1).replace(/^ /, "");
    if (name === "event") this.#type = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#place = value;
    return [];
  }

  #end(): StreamEvent[] {
    const event = { type: this.#type, data: this.#data.join("\n"), place: this.#place };
    this.#type = "";
    this.#data = [];
    return [event];
  }
}
