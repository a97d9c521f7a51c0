/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, IconButton, Tooltip } from "@mui/material";
import { type ReactNode, useState } from "react";
import { AutocompleteArrayInput, AutocompleteInput, ReferenceArrayInput } from "react-admin";
import { ReferenceInput, useWrappedSource, type Validator } from "react-admin";
import { useFormContext } from "react-hook-form";
import type { PageModel } from "../src/admin/document.ts";
import { nameField, nameOf, singularOf } from "./fields.ts";
import { NAME_PART } from "./list_query.ts";
import { ADD } from "./icons.ts";
import { PathIcon } from "./model_icon.tsx";
import { NewReference } from "./new_reference.tsx";
import type { Entity } from "./page_context.ts";
import { parameterOf } from "./fields.ts";

interface PickerProps {
  readonly source: string;
  readonly label: string;
  readonly helperText: string | false;
  readonly validate?: Validator[];
  readonly model: PageModel;
  /** A filter offers no button for a new entity. */
  readonly isFilter?: boolean;
}

export function ReferencePicker({ source, model, isFilter = false, ...input }: PickerProps) {
  return (
    <WithNew source={source} model={model} isFilter={isFilter} select={(_value, id) => id}>
      <ReferenceInput source={source} reference={model.name} {...choicesOf(model)}>
        <AutocompleteInput {...input} {...textOf(model)} />
      </ReferenceInput>
    </WithNew>
  );
}

export function ReferenceListPicker({ source, model, isFilter = false, ...input }: PickerProps) {
  const add = (value: unknown, id: string | number) => [...Array.isArray(value) ? value : [], id];
  return (
    <WithNew source={source} model={model} isFilter={isFilter} select={add}>
      <ReferenceArrayInput source={source} reference={model.name} {...choicesOf(model)}>
        <AutocompleteArrayInput {...input} {...textOf(model)} />
      </ReferenceArrayInput>
    </WithNew>
  );
}

interface WithNewProps extends Required<Pick<PickerProps, "source" | "model" | "isFilter">> {
  /** Returns the value of the input with a new entity. */
  readonly select: (value: unknown, id: string | number) => unknown;
  readonly children: ReactNode;
}

/** Adds a button for a new entity if the reader may create one. */
function WithNew({ source, model, isFilter, select, children }: WithNewProps) {
  const { getValues, setValue } = useFormContext();
  const path = useWrappedSource(source);
  const [isOpen, setOpen] = useState(false);
  if (isFilter || model.operations.create === undefined) return children;
  const label = `New ${singularOf(model)}`;
  const choose = (id: string | number) => {
    setOpen(false);
    setValue(path, select(getValues(path), id), { shouldDirty: true, shouldTouch: true });
  };
  return (
    <Box sx={{ display: "flex", alignItems: "flex-start", gap: 0.5, width: "100%" }}>
      <Box sx={{ flex: 1, minWidth: 0 }}>{children}</Box>
      <Tooltip title={label}>
        <IconButton aria-label={label} onClick={() => setOpen(true)} sx={{ mt: 1 }}>
          <PathIcon path={ADD} />
        </IconButton>
      </Tooltip>
      {isOpen && <NewReference model={model} onCreated={choose} onClose={() => setOpen(false)} />}
    </Box>
  );
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
