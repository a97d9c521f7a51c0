import { badParameter } from "../../errors/refusals.ts";
import { escapePattern } from "../../filter/escape_pattern.ts";
import { type Filter, markCompiled } from "../../filter/filters.ts";

export const MAX_WORDS = 10;

export const MAX_CHARACTERS = 200;

/** Without `fields`, clients search in the text index. */
export interface SearchConfig {
  readonly fields: readonly string[] | undefined;
}

const MARKED_LETTERS = [[0xc0, 0x24f], [0x1e00, 0x1eff]] as const;

export function compileSearch(text: string, config: SearchConfig): Filter {
  if (text.includes("\0")) throw badParameter("search", "a text without NUL");
  const words = text.split(/\s+/).filter((word) => word !== "");
  const isAllowed = words.length > 0 && words.length <= MAX_WORDS &&
    text.length <= MAX_CHARACTERS && text.isWellFormed();
  if (!isAllowed) {
    const allowed = `1 to ${MAX_WORDS} words, at most ${MAX_CHARACTERS} characters`;
    throw badParameter("search", allowed);
  }
  const { fields } = config;
  if (fields === undefined) return { $text: { $search: words.map(quoted).join(" ") } };
  return { $and: words.map((word) => ({ $or: fields.map((field) => containing(field, word)) })) };
}

/** Without quotes, a leading `-` would exclude entities with the word. */
function quoted(word: string): string {
  return `"${word.replace(/["\\]/g, " ").trim()}"`;
}

function containing(field: string, word: string): Filter {
  return { [field]: markCompiled({ $regex: patternOf(word), $options: "i" }) };
}

const PIECES = /\p{Script=Latin}\p{Mn}*|\P{Script=Latin}+/gu;

/** Letters with marks are found too, such as `café` by `cafe`. */
function patternOf(word: string): string {
  const pieces = word.match(PIECES) ?? [];
  return pieces.map((piece) => {
    const base = baseOf(piece).toLowerCase();
    const variants = VARIANTS.get(base);
    return variants === undefined ? literal(piece) : `[${base}${variants}]\\p{Mn}*`;
  }).join("");
}

/** The stored string may have another Unicode normalization form, so the pattern matches all forms. */
function literal(text: string): string {
  const forms = new Set([text, text.normalize("NFC"), text.normalize("NFD")]);
  const escaped = [...forms].map(escapePattern);
  return escaped.length === 1 ? escaped.join() : `(?:${escaped.join("|")})`;
}

function baseOf(text: string): string {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "").normalize("NFC");
}

const VARIANTS: ReadonlyMap<string, string> = variants();

function variants(): Map<string, string> {
  const found = new Map<string, string>();
  for (let letter = 0x61; letter <= 0x7a; letter++) found.set(String.fromCharCode(letter), "");
  for (const [from, to] of MARKED_LETTERS) {
    for (let code = from; code <= to; code++) {
      const letter = String.fromCharCode(code);
      const base = baseOf(letter).toLowerCase();
      const known = found.get(base);
      const small = letter.toLowerCase();
      // The pattern ignores case, so it finds an upper-case letter by its lower-case letter.
      const isFound = small !== letter && small.length === 1;
      if (known !== undefined && !isFound) found.set(base, known + letter);
    }
  }
  return found;
}
