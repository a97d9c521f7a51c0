import type { FieldDescription, ValueDescription } from "../src/describe/describe_object.ts";
import type { PageModel, PageRoute } from "../src/admin/document.ts";

export type Field = FieldDescription;
export type Value = ValueDescription;

/** Returns a name of code as words, such as "Opened by" for `openedBy`. */
export function wordsOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").replaceAll(/([a-z\d])([A-Z])/g, "$1 $2");
  const text = words.replaceAll(/[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase()).trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the name of the list of a model, such as "Tickets". */
export function pluralOf({ path }: Pick<PageModel, "path">): string {
  return wordsOf(path.slice(path.lastIndexOf("/") + 1));
}

/** Returns the name of an entity of a model within a sentence, such as "ticket". */
export function singularOf({ model }: Pick<PageModel, "model">): string {
  return wordsOf(model).toLowerCase();
}

const NAMES = ["title", "name", "label", "subject", "email", "key", "code"];

/** Returns the name of the field by which readers recognise an entity. */
export function nameField({ answer }: PageRoute): string {
  const texts = answer.filter(({ type }) => type === "String").map(({ name }) => name);
  return NAMES.find((name) => texts.includes(name)) ?? texts.at(0) ?? "_id";
}

/** Returns the text by which readers recognise an entity. */
export function nameOf(entity: Readonly<Record<string, unknown>>, list: PageRoute): string {
  const value = entity[nameField(list)];
  return typeof value === "string" && value !== "" ? value : String(entity._id ?? "");
}

/** The fields that the framework keeps, which readers seldom need. */
const OF_FRAMEWORK = new Set(["_id", "__v"]);

const MAX_COLUMNS = 6;

/** Returns the fields that a list shows, beginning with the name of the entities. */
export function columnsOf(list: PageRoute, isTrash = false): readonly Field[] {
  const first = nameField(list);
  const others = list.answer.filter(({ name }) => name !== first && !OF_FRAMEWORK.has(name));
  const short = others.filter((field) => isShort(field) || isTrash && field.name === "deletedAt");
  const own = list.answer.filter(({ name }) => name === first);
  return [...own, ...short].slice(0, MAX_COLUMNS);
}

function isShort({ type, items, readonly, name }: Field): boolean {
  if (type === "Array") return items?.model !== undefined || items?.type === "String";
  if (readonly && /(At|By)$/.test(name)) return name === "updatedAt";
  return !["Embedded", "Object", "Map", "Buffer"].includes(type) && !isLong(name);
}

/** Returns the fields of an entity that a page shows beside its form. */
export function factsOf(answer: readonly Field[], form: readonly Field[]): readonly Field[] {
  const inForm = new Set(form.map(({ name }) => name));
  return answer.filter(({ name }) => !inForm.has(name) && name !== "__v");
}

/** Returns the fields of the form of an entity. Parts that the reader changes in a table of their own are left out. */
export function formFields({ operations: { update, one }, parts }: PageModel): readonly Field[] {
  const inTables = parts.filter(({ operations }) =>
    operations.create ?? operations.update ?? operations.remove
  );
  const names = new Set(inTables.map(({ property }) => property));
  const fields = update?.body?.filter(({ name }) => !names.has(name)) ?? [];
  return withUnseen(fields, one?.answer ?? []);
}

/**
 * Returns the fields of the form of a stored entity. A field that the reader cannot see keeps its stored value as long
 * as its input is empty, so the form does not require it.
 */
export function withUnseen(fields: readonly Field[], shown: readonly Field[]): readonly Field[] {
  return fields.map((field) => {
    const seen = shown.find(({ name }) => name === field.name);
    return seen ? unseenWithin(field, seen) : { ...field, required: false, nullable: true };
  });
}

function unseenWithin<V extends Value>(value: V, shown: Value): V {
  const { fields, items } = value;
  return {
    ...value,
    ...fields && shown.fields && { fields: withUnseen(fields, shown.fields) },
    ...items && shown.items && { items: unseenWithin(items, shown.items) },
  };
}

/** Has the form of a model without `update()` send whole entities to `replace()`. */
export function withForm(model: PageModel): PageModel {
  const { update, replace } = model.operations;
  // React-admin shows the identifier in the place of a field with the name `id`, and the form would store it.
  const hasId = replace?.body?.some(({ name }) => name === "id") ?? false;
  if (update !== undefined || replace === undefined || hasId) return model;
  return { ...model, operations: { ...model.operations, update: replace } };
}

/** Whether a text with this name usually has several lines. */
export function isLong(name: string): boolean {
  return /^(text|note|notes|body|description|content|comment|summary|about|message|details)$/i
    .test(name);
}

/** Whether a form marks a field as required. A required field of a stored entity cannot be cleared. */
export function isRequired({ required, nullable = false, type }: Field, isNew: boolean): boolean {
  if (type === "Boolean" || type === "Array" || type === "Map") return false;
  return required || !isNew && !nullable && type !== "Embedded";
}

/** Finds the description of the value at a path such as `address.city`. */
export function fieldAt(fields: readonly Field[], path: string): Field | undefined {
  const [first, ...rest] = path.split(".");
  const field = fields.find(({ name }) => name === first);
  if (field === undefined || rest.length === 0) return field;
  return fieldAt(field.fields ?? field.items?.fields ?? [], rest.join("."));
}

/** Finds the model to which a reference leads, if the reader may see it. */
export function modelNamed(models: readonly PageModel[], name: string | undefined) {
  return name === undefined ? undefined : models.find(({ model }) => model === name);
}

/** Returns the parameter of a route by its name. */
export function parameterOf(route: PageRoute | undefined, name: string) {
  return route?.parameters.find((parameter) => parameter.name === name);
}
