/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { AutocompleteArrayInput, AutocompleteInput, ReferenceArrayInput } from "react-admin";
import { ReferenceInput, type Validator } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { nameField, nameOf, singularOf } from "./fields.ts";
import { NAME_PART } from "./list_query.ts";
import { NewReference } from "./new_reference.tsx";
import type { Entity } from "./page_context.ts";
import { parameterOf } from "./fields.ts";

interface PickerProps {
  readonly source: string;
  readonly label: string;
  readonly helperText: string | false;
  readonly validate?: Validator[];
  readonly model: PageModel;
  /** Whether the picker is a filter, which offers no new entity. */
  readonly isFilter?: boolean;
}

/** Selects the entity of a reference, which the reader finds by a part of its name. */
export function ReferencePicker({ source, model, isFilter, ...input }: PickerProps) {
  return (
    <ReferenceInput source={source} reference={model.name} {...choicesOf(model)}>
      <AutocompleteInput {...input} {...textOf(model)} {...!isFilter && creationOf(model)} />
    </ReferenceInput>
  );
}

/** Selects the entities of a list of references. */
export function ReferenceListPicker({ source, model, isFilter, ...input }: PickerProps) {
  return (
    <ReferenceArrayInput source={source} reference={model.name} {...choicesOf(model)}>
      <AutocompleteArrayInput {...input} {...textOf(model)} {...!isFilter && creationOf(model)} />
    </ReferenceArrayInput>
  );
}

/** Offers a new entity, if the reader may create one. */
function creationOf(model: PageModel) {
  if (model.operations.create === undefined) return {};
  const label = `New ${singularOf(model)}`;
  return {
    create: <NewReference model={model} />,
    createLabel: label,
    createItemLabel: `${label}: %{item}`,
    forcePopupIcon: true,
  };
}

function choicesOf(model: PageModel) {
  const maximum = parameterOf(model.operations.all, "limit")?.maximum ?? 25;
  return {
    perPage: Math.min(25, maximum),
    sort: { field: nameField(model), order: "ASC" as const },
  };
}

function textOf(model: PageModel) {
  return {
    optionText: (entity: Entity) => nameOf(entity, model),
    inputText: (entity: Entity) => nameOf(entity, model),
    matchSuggestion: () => true,
    filterToQuery: (text: string) => text === "" ? {} : { [NAME_PART]: text },
  };
}
