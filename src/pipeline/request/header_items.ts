/** An item of a header that holds a list, such as `text/csv;q=0.5` or `count=exact`. */
export interface HeaderItem {
  /** The name in lower case, because names in headers ignore case. */
  readonly name: string;
  /** The value of the item without quotes, such as `exact` in `count=exact`. Empty if the item has no value. */
  readonly value: string;
  /**
   * The parameters of the item by their names in lower case, such as `q` in `text/csv;q=0.5`. If a parameter is
   * repeated, the map has its first value.
   */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Reads the items of a header that holds a list, such as `Accept` or `Prefer`. The time grows linearly with the length
 * of the header, so that a client cannot block the process by a long header.
 */
export function readItems(header: string): HeaderItem[] {
  return splitUnquoted(header, ",").map((item) => {
    const [first = "", ...others] = splitUnquoted(item, ";");
    const parameters = new Map<string, string>();
    for (const { name, value } of others.map(readPair)) {
      if (!parameters.has(name)) parameters.set(name, value);
    }
    return { ...readPair(first), parameters };
  });
}

/** Splits a text at each separator outside of quotes, so that a quoted value may contain the separator. */
function splitUnquoted(text: string, separator: "," | ";"): string[] {
  if (!text.includes('"')) return text.split(separator);
  const pieces: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\" && isQuoted) index++;
    else if (character === separator && !isQuoted) {
      pieces.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...pieces, text.slice(start)];
}

function readPair(text: string): Pick<HeaderItem, "name" | "value"> {
  const end = text.indexOf("=");
  if (end === -1) return { name: text.trim().toLowerCase(), value: "" };
  const value = text.slice(end + 1).trim();
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return {
    name: text.slice(0, end).trim().toLowerCase(),
    value: isQuoted ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value,
  };
}
