/**
 * An evaluator of filters that shares no code with the library: it says of JSON data what MongoDB selects.
 */

/** A value of JSON. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

/** A filter in MongoDB's query language. */
export type JudgedFilter = Record<string, unknown>;

/** Tells whether a filter selects a document. */
export function selects(filter: JudgedFilter, document: Value): boolean {
  return Object.entries(filter).every(([key, condition]) => {
    const clauses = condition as JudgedFilter[];
    if (key === "$and") return clauses.every((each) => selects(each, document));
    if (key === "$or") return clauses.some((each) => selects(each, document));
    if (key === "$nor") return !clauses.some((each) => selects(each, document));
    return matches(condition, found(document, key.split(".")));
  });
}

/** What stands at the end of a path, `undefined` where nothing does; of a position, only the value itself counts. */
interface Found {
  readonly value: Value | undefined;
  readonly alone: boolean;
}

/** Follows a path: to several values where it leads through arrays. */
function found(value: Value | undefined, path: string[], alone = false): Found[] {
  const [name, ...rest] = path;
  if (name === undefined) return [{ value, alone }];
  if (Array.isArray(value)) {
    const inside = value.filter(isObject).flatMap((each) => found(each, path));
    const position = /^\d+$/.test(name) && Number(name) < value.length
      ? found(value[Number(name)], rest, true)
      : [];
    return [...position, ...inside];
  }
  return isObject(value) && Object.hasOwn(value, name)
    ? found(value[name], rest)
    : [{ value: undefined, alone }];
}

function matches(condition: unknown, values: Found[]): boolean {
  if (!isOperators(condition)) return is("$eq", condition as Value, values);
  return Object.entries(condition).every(([operator, operand]) => {
    switch (operator) {
      case "$ne":
        return !is("$eq", operand as Value, values);
      case "$in":
        return (operand as Value[]).some((each) => is("$eq", each, values));
      case "$nin":
        return !(operand as Value[]).some((each) => is("$eq", each, values));
      case "$all":
        return (operand as Value[]).length > 0 &&
          (operand as Value[]).every((each) => is("$eq", each, values));
      case "$not":
        return !matches(operand, values);
      case "$exists":
        return values.some(({ value }) => value !== undefined) === Boolean(operand);
      case "$size":
        return values.some(({ value }) => Array.isArray(value) && value.length === operand);
      case "$elemMatch":
        return values.some(({ value }) =>
          Array.isArray(value) && value.some((one) => matchesElement(operand as JudgedFilter, one))
        );
      default:
        return is(operator, operand as Value, values);
    }
  });
}

function matchesElement(filter: JudgedFilter, element: Value): boolean {
  if (isOperators(filter)) return matches(filter, [{ value: element, alone: true }]);
  return (isObject(element) || Array.isArray(element)) && selects(filter, element);
}

/** A comparison holds of a value itself, or of an element of it. */
function is(operator: string, operand: Value, values: Found[]): boolean {
  return values.some(({ value, alone }) =>
    compares(operator, value, operand) ||
    (!alone && Array.isArray(value) && value.some((each) => compares(operator, each, operand)))
  );
}

function compares(operator: string, value: Value | undefined, operand: Value): boolean {
  const given = value ?? null;
  if (rank(given) !== rank(operand)) return false;
  const order = compare(given, operand);
  switch (operator) {
    case "$eq":
      return order === 0;
    case "$gt":
      return order > 0;
    case "$gte":
      return order >= 0;
    case "$lt":
      return order < 0;
    default:
      return order <= 0;
  }
}

/** The order of values in the database: by their types first. */
export function compare(left: Value, right: Value): number {
  if (rank(left) !== rank(right)) return rank(left) - rank(right);
  if (!isObject(left) && !Array.isArray(left)) {
    return left === right ? 0 : (left as number) < (right as number) ? -1 : 1;
  }
  const [some, others] = [Object.entries(left), Object.entries(right as object)];
  for (const [index, [key, value]] of some.entries()) {
    const other = others[index];
    if (other === undefined) return 1;
    if (rank(value) !== rank(other[1])) return rank(value) - rank(other[1]);
    if (!Array.isArray(left) && key !== other[0]) return key < other[0] ? -1 : 1;
    const order = compare(value, other[1]);
    if (order !== 0) return order;
  }
  return some.length - others.length;
}

function rank(value: Value): number {
  if (value === null) return 0;
  if (Array.isArray(value)) return 4;
  return ["number", "string", "object", "", "boolean"].indexOf(typeof value) + 1;
}

function isObject(value: unknown): value is { [key: string]: Value } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOperators(condition: unknown): condition is JudgedFilter {
  return isObject(condition) && Object.keys(condition).some((key) => key.startsWith("$"));
}
