/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Dialog, DialogActions, DialogContent, DialogTitle } from "@mui/material";
import { useState } from "react";
import { useNotify } from "react-admin";
import type { PageAction, PageModel } from "../src/admin/document.ts";
import { newBody } from "./body.ts";
import { failure, messageOf } from "./failure.ts";
import { type Field, readableName } from "./fields.ts";
import { FormDialog } from "./form_dialog.tsx";
import { type Entity, usePage } from "./page_context.ts";
import { fieldsOfSchema } from "./schema_fields.ts";
import { useRefreshAround } from "./typed_values.ts";
import { Facts } from "./value.tsx";

interface ActionButtonsProps {
  readonly model: PageModel;
  readonly entity?: Entity;
  /** The filter of the list, for actions on the list. */
  readonly q?: object | undefined;
}

export function ActionButtons({ model, entity, q }: ActionButtonsProps) {
  const { actionsOf } = usePage();
  const on = entity === undefined ? "all" : "one";
  const offered = model.actions.filter((action) =>
    action.on === on &&
    (!action.isConditional || entity && actionsOf(model.path, entity._id).has(action.name))
  );
  return offered.map((action) => (
    <ActionButton key={action.name} action={action} model={model} entity={entity} q={q} />
  ));
}

interface ActionButtonProps extends Omit<ActionButtonsProps, "entity"> {
  readonly action: PageAction;
  readonly entity: Entity | undefined;
}

function ActionButton({ action, model, entity, q }: ActionButtonProps) {
  const { open } = usePage();
  const notify = useNotify();
  const refresh = useRefreshAround();
  const [isOpen, setOpen] = useState(false);
  const [answer, setAnswer] = useState<unknown>();
  const label = readableName(action.name);
  const fields = action.body ?? (action.bodySchema && fieldsOfSchema(action.bodySchema)) ?? [];
  const hasBody = action.body !== undefined || action.bodySchema !== undefined;
  const run = async (values: Readonly<Record<string, unknown>>) => {
    const body = hasBody ? newBody(values, fields) : undefined;
    const isBound = entity !== undefined && action.method === "POST" && "__v" in entity;
    const options = {
      method: action.method,
      ...isBound && { ifMatch: entity },
      ...q && action.filter && { q },
    };
    const resource = open(model.path);
    const sent = entity === undefined
      ? resource.action(action.name, body, options)
      : resource.action(action.name, entity._id, body, options);
    const answered = await sent.catch((error) =>
      Promise.reject(failure(label.toLowerCase(), error, { form: fields }))
    );
    setOpen(false);
    if (action.method === "POST") refresh();
    if (isResult(answered, entity)) setAnswer(answered);
    else notify(`${label}: done`, { type: "success" });
  };
  const click = () => {
    if (action.method === "POST") return setOpen(true);
    run({}).catch((error) => notify(messageOf(error), { type: "error", multiLine: true }));
  };
  return (
    <>
      <Button size="small" onClick={click}>{label}</Button>
      {isOpen && (
        <FormDialog
          title={label}
          label={label}
          help={action.summary ?? (fields.length === 0 ? `Run "${label}"?` : undefined)}
          fields={fields}
          isNew
          onSubmit={run}
          onClose={() => setOpen(false)}
        />
      )}
      {answer !== undefined && (
        <Answer
          title={label}
          value={answer}
          fields={action.answer}
          onClose={() => setAnswer(undefined)}
        />
      )}
    </>
  );
}

/** An action may answer with the changed entity, which is no result to show. */
function isResult(answer: unknown, entity: Entity | undefined): boolean {
  if (answer === undefined || answer === null || answer === "") return false;
  return entity === undefined || (answer as Partial<Entity>)._id !== entity._id;
}

interface AnswerProps {
  readonly title: string;
  readonly value: unknown;
  readonly fields: readonly Field[];
  readonly onClose: () => void;
}

function Answer({ title, value, fields, onClose }: AnswerProps) {
  const isDescribed = areDescribed(value, fields);
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="sm" aria-label={title}>
      <DialogTitle>{title}</DialogTitle>
      <DialogContent>
        {isDescribed
          ? <Facts entity={value as Entity} fields={fields} />
          : <pre style={{ whiteSpace: "pre-wrap" }}>{JSON.stringify(value, undefined, 2)}</pre>}
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  );
}

/** An action can answer fields that its route does not describe. */
function areDescribed(value: unknown, fields: readonly Field[]): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const known = new Set(fields.map(({ name }) => name));
  return Object.keys(value).every((name) => known.has(name));
}
