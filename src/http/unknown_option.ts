/** Gives the name of an option that there is not, if one is given: a misspelled option would do nothing. */
export function unknownOption(given: object, known: object): string | undefined {
  return Object.keys(given).find((name) => !Object.hasOwn(known, name));
}
