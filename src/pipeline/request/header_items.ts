export interface HeaderItem {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
  /** The keys are in lower case. The first of repeated values counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** The parser needs linear time, so that a long header cannot block the process. */
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
