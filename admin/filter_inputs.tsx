/** @jsxRuntime automatic */
/** @jsxImportSource react */
import type { ReactElement } from "react";
import {
  DateInput,
  DateTimeInput,
  NumberInput,
  SearchInput,
  SelectInput,
  TextInput,
} from "react-admin";
import type { FilterPath } from "../src/describe/describe_filter.ts";
import type { PageModel } from "../src/admin/document.ts";
import { fieldAt, modelNamed, readableName } from "./fields.ts";
import { choiceWords } from "./format.ts";
import { canSearch, type Comparison, filterName, SEARCH } from "./list_query.ts";
import { ReferencePicker } from "./reference_picker.tsx";

const YES_NO = [{ id: true, name: "Yes" }, { id: false, name: "No" }];

export function filterInputs(model: PageModel, models: readonly PageModel[]): ReactElement[] {
  const list = model.operations.all;
  if (list === undefined) return [];
  const search = canSearch(model)
    ? [<SearchInput key={SEARCH} source={SEARCH} alwaysOn placeholder="Search" />]
    : [];
  const files = new Set(model.files.map(({ property }) => property));
  const paths = (list.filter ?? []).filter(({ path }) =>
    !/(^|\.)(_id|__v)$/.test(path) && !files.has(path.split(".", 1)[0] ?? "")
  );
  return [...search, ...paths.flatMap((path) => inputsOf(path, { model, models }))];
}

interface Place {
  readonly model: PageModel;
  readonly models: readonly PageModel[];
}

function inputsOf(
  { path, type, operators, format }: FilterPath,
  { model, models }: Place,
): ReactElement[] {
  const field = fieldAt(model.operations.all?.answer ?? [], path);
  const value = field?.type === "Array" ? field.items : field;
  const label = path.split(".").map(readableName).join(", ");
  const named = (comparison: Comparison, suffix = "") => {
    const source = filterName(path, comparison);
    return { key: source, source, label: label + suffix };
  };
  const target = modelNamed(models, value?.model);
  if (target !== undefined && value?.type !== "Embedded") {
    const { key, ...input } = named("is");
    return [<ReferencePicker key={key} {...input} helperText={false} model={target} isFilter />];
  }
  if (value?.enum !== undefined) {
    const choices = value.enum.map((each) => ({ id: each, name: choiceWords(each) }));
    const { key, ...input } = named("is");
    return [<SelectInput key={key} {...input} choices={choices} />];
  }
  const scalar = type === "Array" ? value?.type ?? "" : type;
  const { key: isKey, ...is } = named("is");
  const { key: fromKey, ...from } = named("from", " from");
  const { key: toKey, ...to } = named("to", " to");
  switch (scalar) {
    case "String": {
      const { key, ...input } = operators.includes("$regex") ? named("has") : named("is");
      return [<TextInput key={key} {...input} />];
    }
    case "Boolean":
      return [<SelectInput key={isKey} {...is} choices={YES_NO} />];
    case "Number":
    case "Int32":
    case "Double":
    case "BigInt":
    case "Decimal128":
      return [<NumberInput key={fromKey} {...from} />, <NumberInput key={toKey} {...to} />];
    case "Date": {
      const Input = format === "date" ? DateInput : DateTimeInput;
      return [<Input key={fromKey} {...from} />, <Input key={toKey} {...to} />];
    }
    case "ObjectId":
    case "UUID":
      return [<TextInput key={isKey} {...is} />];
    default:
      return [];
  }
}
