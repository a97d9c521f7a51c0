/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { TextField } from "@mui/material";
import { useState } from "react";
import { FieldTitle, InputHelperText, isRequired, useInput, type Validator } from "react-admin";

interface TextValueProps {
  readonly source: string;
  readonly label: string;
  readonly helperText: string;
  readonly validate: Validator[];
  readonly format: (value: unknown) => string;
  /** Throws if the text has no value. */
  readonly parse: (text: string) => unknown;
}

export function TextValueInput({ format, parse, label, helperText, ...props }: TextValueProps) {
  const { source, validate } = props;
  const [typed, setTyped] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const ownCheck = () => problem;
  const { field, fieldState, id } = useInput({
    source,
    validate: [...validate, ownCheck],
    format: (value: unknown) => value,
    parse: (value: unknown) => value,
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
      multiline
      fullWidth
      minRows={2}
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
