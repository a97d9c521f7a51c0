/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { type ReactNode, useState } from "react";
import {
  DeleteButton,
  Edit,
  SaveButton,
  SimpleForm,
  Toolbar,
  useNotify,
  useRefresh,
} from "react-admin";
import { isStale } from "./errors.ts";

/** A form starts from what is stored now: not from a list, and not from an earlier visit. */
const FRESH = { meta: { form: true }, gcTime: 0 };

/** When a conflict has been told, what was typed stays while what is stored is loaded. */
const KEEP = { keepDirtyValues: true, keepErrors: true };

const NOTHING = {};

/** A form whose errors stand at their fields, and which shows a conflict. */
export function EditPage({ children }: { children: ReactNode }) {
  const notify = useNotify();
  const refresh = useRefresh();
  const [isLate, setLate] = useState(false);
  const onError = (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    notify(message, { type: "error", multiLine: true });
    if (!isStale(error)) return;
    setLate(true);
    refresh();
  };
  const toolbar = (
    <Toolbar sx={{ justifyContent: "space-between" }}>
      <SaveButton />
      <DeleteButton mutationMode="pessimistic" mutationOptions={{ onError }} />
    </Toolbar>
  );
  return (
    <Edit mutationMode="pessimistic" mutationOptions={{ onError }} queryOptions={FRESH}>
      <SimpleForm
        toolbar={toolbar}
        resetOptions={isLate ? KEEP : NOTHING}
        disableInvalidFormNotification
      >
        {children}
      </SimpleForm>
    </Edit>
  );
}
