/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Alert, Button, Dialog, DialogActions, DialogContent } from "@mui/material";
import { DialogContentText, DialogTitle } from "@mui/material";
import { type ReactNode, useId, useState } from "react";
import { Form, HttpError } from "react-admin";
import { messageOf } from "./failure.ts";
import type { Field } from "./fields.ts";
import { FieldInputs } from "./inputs.tsx";

type Values = Readonly<Record<string, unknown>>;

interface FormDialogProps {
  readonly title: string;
  readonly label: string;
  readonly help?: string | undefined;
  readonly fields: readonly Field[];
  readonly isNew: boolean;
  readonly initial?: Values;
  /** A rejection keeps the dialog open and shows the errors. */
  readonly onSubmit: (values: Values) => Promise<void>;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { title, label, help, fields, isNew, initial = {}, onSubmit, onClose, children } = props;
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const titleId = useId();
  const submit = async (values: Values): Promise<object | undefined> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await onSubmit(values);
      return undefined;
    } catch (error) {
      setBusy(false);
      // Screen readers do not see a message outside of the dialog.
      setProblem(messageOf(error));
      return error instanceof HttpError ? error.body?.errors : undefined;
    }
  };
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="sm" aria-labelledby={titleId}>
      <Form onSubmit={submit} record={initial} noValidate>
        <DialogTitle id={titleId}>{title}</DialogTitle>
        <DialogContent>
          {help && <DialogContentText>{help}</DialogContentText>}
          {children}
          <FieldInputs fields={fields} isNew={isNew} />
          {problem && <Alert severity="error">{problem}</Alert>}
        </DialogContent>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="contained" disabled={isBusy}>{label}</Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
