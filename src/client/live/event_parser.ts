export interface StreamEvent {
  readonly type: string;
  readonly data: string;
  /** The last `id` up to this event, which the server accepts as a resume token. */
  readonly place: string | undefined;
}

/** A parser of a `text/event-stream`. A chunk may end inside of a line or a character, so the parser keeps the rest. */
export class EventParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #endsInReturn = false;
  #type = "";
  #data: string[] = [];
  #place: string | undefined;

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
