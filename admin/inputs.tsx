/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Typography } from "@mui/material";
import { ArrayInput, AutocompleteArrayInput, BooleanInput, DateTimeInput } from "react-admin";
import { maxValue, minValue, NullableBooleanInput, NumberInput, required } from "react-admin";
import { SelectInput, SimpleFormIterator, TextInput, type Validator } from "react-admin";
import { type Field, isLong, isRequired, modelNamed, type Value, wordsOf } from "./fields.ts";
import { TextValueInput } from "./json_input.tsx";
import { usePage } from "./page_context.ts";
import { ReferenceListPicker, ReferencePicker } from "./reference_picker.tsx";

interface FieldInputProps {
  readonly field: Field;
  /** The place of the value in the form. */
  readonly source: string;
  readonly isNew: boolean;
  readonly group?: string | undefined;
}

/** The inputs of the fields of a body. */
export function FieldInputs({ fields, isNew, group }: {
  readonly fields: readonly Field[];
  readonly isNew: boolean;
  /** The place of the object whose fields these are, if the object is optional. */
  readonly group?: string | undefined;
}) {
  const shown = fields.filter(({ name }) => name !== "_id");
  return shown.map((field) => (
    <FieldInput
      key={field.name}
      field={field}
      source={group === undefined ? field.name : `${group}.${field.name}`}
      isNew={isNew}
      group={group}
    />
  ));
}

/** The input of a field, by its type. Required fields are marked. */
export function FieldInput({ field, source, isNew, group }: FieldInputProps) {
  const { document } = usePage();
  const { type, items, fields, name } = field;
  const validate = checksOf(field, { isNew, group });
  const initial = isNew && field.default !== undefined ? { defaultValue: field.default } : {};
  const helperText = field.description ?? field.summary ?? " ";
  const common = {
    source,
    label: wordsOf(name),
    validate,
    helperText,
    fullWidth: true,
    ...initial,
  };
  const choices = field.enum?.map((value) => ({ id: value, name: String(value) }));
  if (choices !== undefined) {
    return <SelectInput {...common} choices={choices} emptyText="None" />;
  }
  const target = modelNamed(document.models, field.model);
  if (target !== undefined && type !== "Embedded") {
    return <ReferencePicker {...common} model={target} />;
  }
  switch (type) {
    case "String":
      return <TextInput {...common} multiline={isLong(name)} {...limits(field)} />;
    case "Number":
    case "Int32":
    case "Double":
      return <NumberInput {...common} />;
    case "Boolean":
      return isNew && field.default === undefined || field.nullable
        ? <NullableBooleanInput {...common} nullLabel="Not set" trueLabel="Yes" falseLabel="No" />
        : <BooleanInput {...common} />;
    case "Date":
      return <DateTimeInput {...common} />;
    case "Embedded":
      return fields === undefined
        ? <TextValueInput {...common} {...JSON_TEXT} />
        : (
          <Group label={common.label}>
            <FieldInputs fields={fields} isNew={isNew} group={source} />
          </Group>
        );
    case "Array":
      return items === undefined
        ? <TextValueInput {...common} {...JSON_TEXT} />
        : <ListInput {...common} items={items} />;
    case "Map":
    case "Object":
      return <TextValueInput {...common} {...JSON_TEXT} />;
    default:
      return <TextInput {...common} />;
  }
}

type Common = {
  readonly source: string;
  readonly label: string;
  readonly helperText: string;
  readonly validate: Validator[];
};

/** The input of a list, by the type of its items. */
function ListInput({ items, ...common }: Common & { readonly items: Value }) {
  const { document } = usePage();
  const target = modelNamed(document.models, items.model);
  if (target !== undefined && items.type !== "Embedded") {
    return <ReferenceListPicker {...common} model={target} />;
  }
  if (items.enum !== undefined) {
    const choices = items.enum.map((value) => ({ id: value, name: String(value) }));
    return <AutocompleteArrayInput {...common} choices={choices} />;
  }
  if (items.type === "Embedded" && items.fields !== undefined) {
    return (
      <ArrayInput {...common}>
        <SimpleFormIterator fullWidth disableReordering>
          <FieldInputs fields={items.fields} isNew />
        </SimpleFormIterator>
      </ArrayInput>
    );
  }
  const text = LINES[items.type];
  return text === undefined ? <TextValueInput {...common} {...JSON_TEXT} /> : (
    <TextValueInput
      {...common}
      {...text}
      helperText={`${common.helperText.trim()} One on each line`}
    />
  );
}

function Group(
  { label, children }: { readonly label: string; readonly children: React.ReactNode },
) {
  return (
    <Box
      component="fieldset"
      sx={{ border: 1, borderColor: "divider", borderRadius: 1, width: "100%", my: 1 }}
    >
      <Typography component="legend" variant="body2" sx={{ px: 1 }}>{label}</Typography>
      {children}
    </Box>
  );
}

/** Values of free form, which are typed as JSON. */
const JSON_TEXT = {
  format: (value: unknown) => JSON.stringify(value, undefined, 2),
  parse: (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      throw new TypeError("This is not JSON");
    }
  },
};

const lines = (parse: (line: string) => unknown) => ({
  format: (value: unknown) => Array.isArray(value) ? value.join("\n") : String(value),
  parse: (text: string) => text.split("\n").filter((line) => line !== "").map(parse),
});

function numberOf(line: string): number {
  const number = Number(line);
  if (Number.isFinite(number)) return number;
  throw new TypeError(`"${line}" is not a number`);
}

/** Lists of values that are typed on lines, by the type of their items. */
const LINES: Readonly<Record<string, ReturnType<typeof lines>>> = {
  String: lines(String),
  ObjectId: lines(String),
  Number: lines(numberOf),
  Int32: lines(numberOf),
  Double: lines(numberOf),
  Date: lines(String),
  UUID: lines(String),
  BigInt: lines(String),
  Decimal128: lines(String),
};

function limits({ maxLength }: Field) {
  return maxLength === undefined ? {} : { slotProps: { htmlInput: { maxLength } } };
}

/** Returns the checks of an input before its form is sent. The server checks all values again. */
function checksOf(
  field: Field,
  { isNew, group }: Pick<FieldInputProps, "isNew" | "group">,
): Validator[] {
  const { minimum, maximum } = field;
  return [
    ...isRequired(field, isNew) ? [group === undefined ? required() : requiredIn(group)] : [],
    ...typeof minimum === "number" ? [minValue(minimum)] : [],
    ...typeof maximum === "number" ? [maxValue(maximum)] : [],
  ];
}

/** Requires the field of an optional object, if another field of the object has a value. The label marks the field. */
function requiredIn(group: string): Validator {
  const check = (value: unknown, values: unknown): string | undefined => {
    const object = group.split(".").reduce<unknown>(
      (inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name],
      values,
    );
    const isUsed = Object.values(object ?? {}).some((each) => !isEmpty(each));
    return isUsed && isEmpty(value) ? "Required" : undefined;
  };
  return Object.assign(check, { isRequired: true });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}
