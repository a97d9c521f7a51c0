/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Dialog, DialogActions, DialogContent, DialogContentText } from "@mui/material";
import { DialogTitle } from "@mui/material";
import { type ReactNode, useId, useState } from "react";
import { Form, HttpError, useNotify } from "react-admin";
import { messageOf } from "./failure.ts";
import type { Field } from "./fields.ts";
import { FieldInputs } from "./inputs.tsx";

type Values = Readonly<Record<string, unknown>>;

interface FormDialogProps {
  readonly title: string;
  /** The text of the button that sends the form. */
  readonly label: string;
  readonly help?: string | undefined;
  readonly fields: readonly Field[];
  readonly isNew: boolean;
  readonly initial?: Values;
  /** The dialog stays open and shows the errors if the promise is rejected. */
  readonly onSubmit: (values: Values) => Promise<void>;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { title, label, help, fields, isNew, initial = {}, onSubmit, onClose, children } = props;
  const notify = useNotify();
  const [isBusy, setBusy] = useState(false);
  const titleId = useId();
  const submit = async (values: Values): Promise<object | undefined> => {
    setBusy(true);
    try {
      await onSubmit(values);
      return undefined;
    } catch (error) {
      setBusy(false);
      notify(messageOf(error), { type: "error", multiLine: true });
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
        </DialogContent>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="contained" disabled={isBusy}>{label}</Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
