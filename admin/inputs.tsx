/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Typography } from "@mui/material";
import { useRef } from "react";
import {
  ArrayInput,
  AutocompleteArrayInput,
  BooleanInput,
  DateInput,
  DateTimeInput,
} from "react-admin";
import { maxValue, minValue, NullableBooleanInput, required } from "react-admin";
import { SelectInput, SimpleFormIterator, TextInput, useWrappedSource } from "react-admin";
import type { Validator } from "react-admin";
import { useFormContext, useWatch } from "react-hook-form";
import { isBlank, newElement } from "./body.ts";
import { type Field, isLong, isRequired, isSwitch, modelNamed } from "./fields.ts";
import { readableName, type Value, withSwitch } from "./fields.ts";
import { choiceWords, isNumber, unitOf } from "./format.ts";
import { TextValueInput } from "./json_input.tsx";
import { usePage } from "./page_context.ts";
import { ReferenceListPicker, ReferencePicker } from "./reference_picker.tsx";

interface FieldInputProps {
  readonly field: Field;
  readonly source: string;
  readonly isNew: boolean;
  readonly group?: string | undefined;
}

export function FieldInputs({ fields, isNew, group }: {
  readonly fields: readonly Field[];
  readonly isNew: boolean;
  /** The place of an optional object. */
  readonly group?: string | undefined;
}) {
  const shown = fields.filter(({ name, required }) => name !== "_id" || isNew && required);
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

export function FieldInput({ field, source, isNew, group }: FieldInputProps) {
  const { document } = usePage();
  const { type, items, fields, name } = field;
  const validate = checksOf(field, { isNew, group });
  const initial = isNew && field.default !== undefined ? { defaultValue: field.default } : {};
  const helperText = field.description ?? field.summary ?? " ";
  const common = {
    source,
    label: readableName(name),
    validate,
    helperText,
    fullWidth: true,
    ...initial,
  };
  if (field.enum !== undefined) return <ChoiceInput {...common} allowed={field.enum} />;
  const target = modelNamed(document.models, field.model);
  if (target !== undefined && type !== "Embedded") {
    return <ReferencePicker {...common} model={target} />;
  }
  if (isNumber(field)) return <UnitInput {...common} field={field} />;
  switch (type) {
    case "String":
      return <TextLinesInput {...common} isLong={isLongText(field)} {...limits(field)} />;
    case "Boolean":
      return isSwitch(field, isNew)
        ? <BooleanInput {...common} />
        : <NullableBooleanInput {...common} nullLabel="Not set" trueLabel="Yes" falseLabel="No" />;
    case "Date":
      return <TimeInput {...common} isDay={field.format === "date"} />;
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

type TimeProps = Common & { readonly isDay: boolean };

/** A browser has no value for a day that does not exist, and an empty value would clear the field. */
function TimeInput({ isDay, validate, ...common }: TimeProps) {
  const input = useRef<HTMLInputElement>(null);
  const check = () => input.current?.validity.badInput ? "This does not exist" : undefined;
  const props = {
    ...common,
    validate: [check, ...validate],
    slotProps: { htmlInput: { ref: input } },
  };
  return isDay ? <DateInput {...props} /> : <DateTimeInput {...props} format={localText} />;
}

type UnitProps = Common & { readonly field: Field; readonly defaultValue?: unknown };

/** A text keeps digits that no number of JavaScript has. */
function UnitInput({ field, ...common }: UnitProps) {
  const unit = unitOf(useFormValue(common.source), field);
  const parse = ["BigInt", "Decimal128"].includes(field.type)
    ? digitsOf
    : (text: string) => numberOf(digitsOf(text));
  const line = { unit, defaultValue: common.defaultValue };
  return <TextValueInput {...common} format={String} parse={parse} line={line} />;
}

/** A comma is the decimal point, unless it may separate thousands. */
function digitsOf(text: string): string {
  const digits = text.trim().replace(/,(?!\d{3}$)/, ".");
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(digits)) return digits;
  throw new TypeError("Type a number, such as 19.90");
}

function ListInput({ items, ...common }: Common & { readonly items: Value }) {
  const { document } = usePage();
  const target = modelNamed(document.models, items.model);
  if (target !== undefined && items.type !== "Embedded") {
    return <ReferenceListPicker {...common} model={target} />;
  }
  if (items.enum !== undefined) return <ChoicesInput {...common} allowed={items.enum} />;
  if (items.type === "Embedded" && items.fields !== undefined) {
    return <EmbeddedListInput {...common} fields={items.fields} />;
  }
  const text = LINES[items.type];
  return text === undefined
    ? <TextValueInput {...common} {...JSON_TEXT} />
    : <LinesInput {...common} text={text} />;
}

function EmbeddedListInput({ fields, ...common }: Common & { readonly fields: readonly Field[] }) {
  const { getValues } = useFormContext();
  const path = useWrappedSource(common.source);
  // React-hook-form leaves `null` out of a list, and would then confuse the elements after it.
  if (useSticky(isUneven(getValues(path)))) return <TextValueInput {...common} {...JSON_TEXT} />;
  // React-admin would give the default also to a stored element without a value.
  const shown = fields.map(({ default: given, ...field }) => withSwitch(field, given));
  return (
    <ArrayInput {...common}>
      <SimpleFormIterator
        inline={isRow(shown)}
        fullWidth
        disableReordering
        getItemDefaults={() => newElement(fields)}
      >
        <FieldInputs fields={shown} isNew />
      </SimpleFormIterator>
    </ArrayInput>
  );
}

function isLongText({ name, maxLength = Infinity }: Field): boolean {
  return isLong(name) && maxLength > 200;
}

function isRow(fields: readonly Field[]): boolean {
  const shown = fields.filter(({ name }) => name !== "_id");
  const wide = ["Embedded", "Array", "Map", "Object", "Date"];
  return shown.length <= 4 &&
    shown.every((field) => !wide.includes(field.type) && !isLongText(field));
}

function LinesInput({ text, ...common }: Common & { readonly text: ReturnType<typeof lines> }) {
  const isJson = useSticky(isUneven(useFormValue(common.source)));
  return isJson ? <TextValueInput {...common} {...JSON_TEXT} /> : (
    <TextValueInput
      {...common}
      {...text}
      helperText={`${common.helperText.trim()} One on each line`}
    />
  );
}

/** A list with an empty value, or one with line breaks, cannot be typed line by line. */
function isUneven(list: unknown): boolean {
  return Array.isArray(list) &&
    list.some((item) => item === null || item === "" || hasLines(item));
}

function hasLines(value: unknown): boolean {
  return typeof value === "string" && /[\r\n]/.test(value);
}

type TextLinesProps = Common & ReturnType<typeof limits> & { readonly isLong: boolean };

/** An input with a single line would remove the line breaks of a stored text. */
function TextLinesInput({ isLong, ...props }: TextLinesProps) {
  const hasMany = useSticky(hasLines(useFormValue(props.source)));
  return <TextInput {...props} multiline={isLong || hasMany} />;
}

/** A condition that was true once stays true. */
function useSticky(isTrue: boolean): boolean {
  const was = useRef(false);
  was.current ||= isTrue;
  return was.current;
}

function useFormValue(source: string): unknown {
  return useWatch({ name: useWrappedSource(source) });
}

type ChoicesProps = Common & { readonly allowed: readonly unknown[] };

function ChoiceInput({ allowed, ...common }: ChoicesProps) {
  const choices = choicesOf(allowed, useFormValue(common.source));
  return <SelectInput {...common} choices={choices} emptyText="None" />;
}

function ChoicesInput({ allowed, ...common }: ChoicesProps) {
  const choices = choicesOf(allowed, useFormValue(common.source));
  return <AutocompleteArrayInput {...common} choices={choices} />;
}

/** The model may have allowed a stored value at an earlier time. */
function choicesOf(allowed: readonly unknown[], value: unknown) {
  const present = [value].flat().filter((each) => !isEmpty(each));
  return [...new Set([...allowed, ...present])].map((each) => ({
    id: each,
    name: choiceWords(each),
  }));
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

/**
 * The function of React-admin shortens the text of years after 9999. Browsers refuse such a text, and the date would be
 * lost as soon as the reader leaves the input.
 */
function localText(value: unknown): string {
  const date = new Date(String(value));
  if (Number.isNaN(date.getTime())) return isEmpty(value) ? "" : String(value);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [date.getMonth() + 1, date.getDate()].map(two).join("-");
  const time = [date.getHours(), date.getMinutes()].map(two).join(":");
  return `${String(date.getFullYear()).padStart(4, "0")}-${day}T${time}`;
}

function limits({ maxLength }: Field) {
  return maxLength === undefined ? {} : { slotProps: { htmlInput: { maxLength } } };
}

/** The server checks all values again. */
function checksOf(
  field: Field,
  { isNew, group }: Pick<FieldInputProps, "isNew" | "group">,
): Validator[] {
  const { minimum, maximum } = field;
  return [
    ...isRequired(field, isNew) ? [group === undefined ? required() : requiredInGroup()] : [],
    ...typeof minimum === "number" ? [minValue(minimum)] : [],
    ...typeof maximum === "number" ? [maxValue(maximum)] : [],
  ];
}

/** The field is required only if another field of the optional object has a value. The label marks the field. */
function requiredInGroup(): Validator {
  const check = (value: unknown, values: unknown, { finalSource }: { finalSource: string }) => {
    const group = finalSource.split(".").slice(0, -1).reduce<unknown>(
      (inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name],
      values,
    );
    return isBlank(group) || !isEmpty(value) ? undefined : "Required";
  };
  return Object.assign(check, { isRequired: true });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}
