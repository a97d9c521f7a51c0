/** `MovieTheatre` becomes `movie theatre`. */
export function wordsIn(name: string): string {
  const parted = name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  const words = parted.split(/[\s_-]+/).filter((word) => word !== "");
  return words.map((word) => /^\p{Lu}{2,}\p{N}*$/u.test(word) ? word : word.toLowerCase()).join(
    " ",
  );
}

/** Irregular plurals are not known. */
export function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}

export function withArticle(noun: string): string {
  const startsLikeVowel = /^[aeiou]/i.test(noun) && !/^(u[bcklnrst][aeiou]|eu|one\b)/i.test(noun);
  return `${startsLikeVowel ? "an" : "a"} ${noun}`;
}
