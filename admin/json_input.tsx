/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { InputAdornment, TextField } from "@mui/material";
import { useState } from "react";
import { FieldTitle, InputHelperText, isRequired, useInput, type Validator } from "react-admin";

interface TextValueProps {
  readonly source: string;
  readonly label: string;
  readonly helperText: string;
  readonly validate: Validator[];
  readonly format: (value: unknown) => string;
  /** Throws for a text without a value. */
  readonly parse: (text: string) => unknown;
  /** The properties of an input with one line, for a number. */
  readonly line?: { readonly unit: string | undefined; readonly defaultValue: unknown };
}

export function TextValueInput({ format, parse, label, helperText, ...props }: TextValueProps) {
  const { source, validate, line } = props;
  const [typed, setTyped] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const ownCheck = () => problem;
  const { field, fieldState, id } = useInput({
    source,
    validate: [...validate, ownCheck],
    format: (value: unknown) => value,
    parse: (value: unknown) => value,
    ...line?.defaultValue !== undefined && { defaultValue: line.defaultValue },
  });
  const take = (text: string) => {
    setTyped(text);
    try {
      field.onChange(text.trim() === "" ? null : parse(text));
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const { error, invalid } = fieldState;
  const message = problem ?? error?.message ?? "";
  return (
    <TextField
      id={id}
      name={field.name}
      {...line ? lineProps(line.unit) : { multiline: true, minRows: 2 }}
      className={`ra-input ra-input-${source}`}
      fullWidth
      margin="dense"
      label={<FieldTitle label={label} isRequired={isRequired(validate)} />}
      value={typed ??
        (field.value === null || field.value === undefined ? "" : format(field.value))}
      onChange={(event) => take(event.target.value)}
      onBlur={() => {
        field.onBlur();
        if (problem === undefined) setTyped(undefined);
      }}
      error={invalid || problem !== undefined}
      helperText={<InputHelperText error={message} helperText={helperText} />}
    />
  );
}

function lineProps(unit: string | undefined) {
  const endAdornment = <InputAdornment position="end">{unit}</InputAdornment>;
  return {
    slotProps: {
      htmlInput: { inputMode: "decimal" as const },
      ...unit && { input: { endAdornment } },
    },
  };
}
