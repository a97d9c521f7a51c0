/** An event of a `text/event-stream`, which changes a live list. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string;
  /**
   * The last `id` in the stream up to this event. The server accepts the `id` as a resume token, from which it
   * continues after a reconnection.
   */
  readonly place: string | undefined;
}

/**
 * A parser of a `text/event-stream` that arrives in chunks of bytes. A chunk may end inside a line or a character, so
 * the parser keeps the rest until the next chunk.
 */
export class EventParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #endsInReturn = false;
  #type = "";
  #data: string[] = [];
  #place: string | undefined;

  /** Returns the events that are complete with these bytes. The list is empty if no event has ended. */
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
