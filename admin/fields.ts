import type {
  Operations,
  PageField,
  PageModel,
  PagePart,
  PageRoute,
  PageValue,
} from "../src/admin/document.ts";
import { NAMES, readableName } from "../src/admin/words.ts";
import { inWords } from "./format.ts";

export { isLong, readableName } from "../src/admin/words.ts";

export type Field = PageField;
export type Value = PageValue;

/** The path `/tickets` becomes "Tickets". */
export function pluralOf({ path }: Pick<PageModel, "path">): string {
  return readableName(path.slice(path.lastIndexOf("/") + 1));
}

/** The name of a model within a sentence. */
export function singularOf({ model }: Pick<PageModel, "model">): string {
  return readableName(model).toLowerCase();
}

export type Named = Pick<PageModel, "title" | "operations">;

export function nameField({ title: [first = "_id"] }: Pick<Named, "title">): string {
  return first;
}

export function nameOf(
  entity: Readonly<Record<string, unknown>>,
  { title, operations: { all } }: Named,
): string {
  const words = title.flatMap((name) => {
    const field = all?.answer.find((each) => each.name === name);
    const value = entity[name];
    return field === undefined || value === undefined || value === null || value === ""
      ? []
      : [inWords(value, field)];
  });
  return words.length === 0 ? String(entity._id ?? "") : words.join(", ");
}

/** The name of a populated entity whose class the reader may not list. */
export function nameWithin(value: object): string | undefined {
  const { _id, ...others } = value as Readonly<Record<string, unknown>>;
  if (typeof _id !== "string" && typeof _id !== "number") return undefined;
  const texts = [...NAMES.map((name) => others[name]), ...Object.values(others)];
  return texts.find((each) => typeof each === "string" && each !== "") as string | undefined ??
    String(_id);
}

/** The references that a route can populate, of classes that the reader may not list. */
export function unlisted(route: PageRoute | undefined): readonly Field[] {
  const names = parameterOf(route, "populate")?.fields ?? [];
  return route?.answer.filter(({ name, type, model, items = { type } as Value }) =>
    names.includes(name) && (model ?? items.model) === undefined && items.type !== "Embedded"
  ) ?? [];
}

/** The address of an entity, or that of its list if single entities cannot be read. */
export function addressOf(
  { name, operations: { one } }: PageModel,
  { _id }: { readonly _id: string },
): string {
  return one ? `/${name}/${encodeURIComponent(_id)}` : `/${name}`;
}

export function columnsOf(
  { operations }: Pick<PageModel, "operations">,
  names: readonly string[],
): readonly Field[] {
  return names.flatMap((name) => operations.all?.answer.find((each) => each.name === name) ?? []);
}

/** The fields that the page shows beside its form. */
export function factsOf(answer: readonly Field[], form: readonly Field[]): readonly Field[] {
  const inForm = new Set(form.map(({ name }) => name));
  return answer.filter(({ name }) => !inForm.has(name) && name !== "__v");
}

/** Parts that the reader changes in a separate table are left out of the form. */
export function formFields(
  { operations, parts }: Pick<PageModel, "operations" | "parts">,
): readonly Field[] {
  return withUnseen(withoutTables(changeFields(operations), parts), operations.one?.answer ?? []);
}

export function partFields({ operations, parts }: PagePart): readonly Field[] {
  return withUnseen(withoutTables(changeFields(operations), parts), operations.all?.answer ?? []);
}

/** The body of an update has no defaults. */
function changeFields({ update, create }: Operations): readonly Field[] {
  const created = new Map(create?.body?.map((field) => [field.name, field.default]));
  return (update?.body ?? []).map((field) => withSwitch(field, created.get(field.name)));
}

/** A Boolean with a default need not be cleared. */
export function withSwitch(field: Field, given: unknown): Field {
  return typeof given === "boolean" ? { ...field, nullable: false } : field;
}

export function isSwitch({ default: given, nullable }: Field, isNew: boolean): boolean {
  return typeof given === "boolean" || nullable === false || !isNew && !nullable;
}

function withoutTables(fields: readonly Field[], parts: readonly PagePart[]): readonly Field[] {
  const inTables = parts.filter(({ operations }) =>
    operations.create ?? operations.update ?? operations.remove
  );
  const names = new Set(inTables.map(({ property }) => property));
  return fields.filter(({ name }) => !names.has(name));
}

/**
 * A field that the reader cannot see keeps its stored value as long as its input is empty, so the form does not require
 * it.
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

/** The form of a model without `update()` sends whole entities to `replace()`. */
export function withForm(model: PageModel): PageModel {
  const shown = withoutId(model);
  const { update, replace } = shown.operations;
  // The form would remove a field that it does not have.
  const hasId = model.operations.replace?.body?.some(isId) ?? false;
  if (update !== undefined || replace === undefined || hasId) return shown;
  return { ...shown, operations: { ...shown.operations, update: replace } };
}

/** React-admin has the identifier in the place of a field with the name `id`, so the page leaves the field out. */
function withoutId<M extends PageModel | PagePart>(model: M): M {
  const operations = Object.entries(model.operations).map(([name, route]) => {
    const [body, answer] = [route.body, route.answer]
      .map((fields) => fields?.filter((field) => !isId(field)));
    return [name, { ...route, answer, ...body && { body } }];
  });
  return {
    ...model,
    operations: Object.fromEntries(operations),
    title: model.title.filter((name) => name !== "id"),
    parts: model.parts.map(withoutId),
  };
}

function isId({ name }: Field): boolean {
  return name === "id";
}

/** A required field of a stored entity cannot be cleared. */
export function isRequired({ required, nullable = false, type }: Field, isNew: boolean): boolean {
  if (type === "Boolean" || type === "Array" || type === "Map") return false;
  return required || !isNew && !nullable && type !== "Embedded";
}

export function fieldAt(fields: readonly Field[], path: string): Field | undefined {
  const [first, ...rest] = path.split(".");
  const field = fields.find(({ name }) => name === first);
  if (field === undefined || rest.length === 0) return field;
  return fieldAt(field.fields ?? field.items?.fields ?? [], rest.join("."));
}

/** Missing if the reader may not see the model. */
export function modelNamed(models: readonly PageModel[], name: string | undefined) {
  return name === undefined ? undefined : models.find(({ model }) => model === name);
}

export function parameterOf(route: PageRoute | undefined, name: string) {
  return route?.parameters.find((parameter) => parameter.name === name);
}
