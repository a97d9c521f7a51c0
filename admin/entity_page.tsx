/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Card, CardContent, Stack, Typography } from "@mui/material";
import { type RefObject, useCallback, useRef, useState } from "react";
import { Edit, Link, SaveButton, Show, SimpleForm, Toolbar, TopToolbar } from "react-admin";
import { useGetOne, useNotify, useRecordContext, useRedirect, useRefresh } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { ActionButtons } from "./action_buttons.tsx";
import { changedBody, formValues } from "./body.ts";
import { type Conflict, ConflictDialog } from "./conflict_dialog.tsx";
import { sendChanges } from "./data_provider.ts";
import { failure, isConflict, messageOf } from "./failure.ts";
import { factsOf, type Field, formFields, nameOf, singularOf, unlisted } from "./fields.ts";
import { FilePanels } from "./file_box.tsx";
import { HistoryPanel } from "./history_panel.tsx";
import { FieldInputs } from "./inputs.tsx";
import { LeaveQuestion } from "./leave_question.tsx";
import { MissingEntity } from "./missing_page.tsx";
import { type Entity, useModel, usePage } from "./page_context.ts";
import { partResource } from "./part_resource.ts";
import { PartsPanel } from "./parts_panel.tsx";
import { RemoveButton } from "./remove_button.tsx";
import { TIGHT } from "./theme.ts";
import { AT_ONCE, FormStart, KeepContext, START } from "./typed_values.ts";
import { Facts } from "./value.tsx";

type EntityRecord = Entity & { readonly id: string };

/** The form starts from the stored entity, and not from one that an earlier visit has read. */
const FRESH = { gcTime: 0, retry: false };

/**
 * React-admin keeps entities by the `meta` of their request. The form must not start from the entity of a list, which
 * may have other fields or populated references.
 */
const ALONE = { meta: { isForm: true } };

const KEPT = { keepDirtyValues: true, keepErrors: true };
const NOTHING = {};

export function EntityEdit({ name }: { readonly name: string }) {
  const model = useModel(name);
  const { open } = usePage();
  const notify = useNotify();
  const refresh = useRefresh();
  const [isKept, setKept] = useState(false);
  const start = useRef<Entity>(undefined);
  const [conflict, setConflict] = useState<Conflict>();
  const [missing, setMissing] = useState<unknown>();
  const fields = formFields(model);
  const late = async ({ id, data, previousData }: SaveParams) => {
    const mine = changedBody(data, { fields, before: previousData });
    setConflict({ mine, stored: await open(model.path).one(String(id)) });
  };
  const onError = (error: unknown, params: SaveParams) => {
    if (isConflict(error)) late(params).catch(tell);
    else tell(error);
  };
  const tell = (error: unknown) => notify(messageOf(error), { type: "error", multiLine: true });
  const onSuccess = () => {
    notify("Saved", { type: "success" });
    setKept(false);
    refresh();
  };
  // The form stays if the entity cannot be read again.
  const onMissing = (error: Error) => start.current === undefined ? setMissing(error) : tell(error);
  const keep = useCallback(() => setKept(true), []);
  const keepMine = async ({ mine, stored }: Conflict) => {
    setConflict(undefined);
    const { operations, path } = model;
    await sendChanges({ operations, resource: open(path) }, { before: stored, changes: mine })
      .then(onSuccess, (error) => tell(failure(`save the ${singularOf(model)}`, error)));
  };
  return (
    <KeepContext.Provider value={keep}>
      <Edit
        mutationMode="pessimistic"
        redirect={false}
        mutationOptions={{ onError, onSuccess, ...ALONE, ...AT_ONCE } as object}
        transform={(data: object) => ({ ...data, [START]: start.current })}
        queryOptions={{ ...FRESH, ...ALONE, onError: onMissing }}
        redirectOnError={false}
        error={missing === undefined ? undefined : <MissingEntity model={model} error={missing} />}
        actions={<EntityActions model={model} />}
        title={<EntityTitle model={model} />}
        aside={<EntityPanels model={model} form={fields} />}
        sx={LAYOUT}
      >
        <EntityForm fields={fields} isKept={isKept} start={start} />
      </Edit>
      {conflict && (
        <ConflictDialog
          {...conflict}
          fields={fields}
          onKeepMine={() => void keepMine(conflict)}
          onTakeStored={() => {
            setConflict(undefined);
            setKept(false);
            refresh();
          }}
        />
      )}
    </KeepContext.Provider>
  );
}

interface EntityFormProps {
  readonly fields: readonly Field[];
  readonly isKept: boolean;
  readonly start: RefObject<Entity | undefined>;
}

function EntityForm({ fields, isKept, start }: EntityFormProps) {
  const entity = useRecordContext<EntityRecord>();
  if (entity === undefined) return null;
  return (
    <SimpleForm
      record={formValues(entity, fields)}
      toolbar={<SaveToolbar />}
      resetOptions={isKept ? KEPT : NOTHING}
      disableInvalidFormNotification
      noValidate
      warnWhenUnsavedChanges
      WarnWhenUnsavedChangesComponent={LeaveQuestion}
      sx={{ [TIGHT]: { pb: 2 } }}
    >
      <FormStart start={start} isKept={isKept} />
      <FieldInputs fields={fields} isNew={false} />
    </SimpleForm>
  );
}

interface SaveParams {
  readonly id: unknown;
  readonly data: Readonly<Record<string, unknown>>;
  readonly previousData: Readonly<Record<string, unknown>>;
}

const LAYOUT = {
  "& .RaEdit-main, & .RaShow-main": {
    flexDirection: { xs: "column", lg: "row" },
    gap: 2,
    alignItems: { xs: "stretch", lg: "flex-start" },
  },
  "& .RaEdit-card, & .RaShow-card": { flex: { xs: "none", lg: "1 1 0" } },
};

const IN_PLACE = { "&.RaToolbar-mobileToolbar": { position: "static" } };

/** On phones, the panels of the entity follow the form, so the toolbar of the form stays in its place. */
function SaveToolbar() {
  return (
    <Toolbar sx={IN_PLACE}>
      <SaveButton />
    </Toolbar>
  );
}

export function EntityShow({ name }: { readonly name: string }) {
  const model = useModel(name);
  const [missing, setMissing] = useState<unknown>();
  return (
    <Show
      queryOptions={{ ...FRESH, onError: setMissing }}
      redirectOnError={false}
      error={missing === undefined ? undefined : <MissingEntity model={model} error={missing} />}
      actions={<EntityActions model={model} />}
      title={<EntityTitle model={model} />}
      component="div"
      sx={LAYOUT}
    >
      <EntityPanels model={model} form={[]} />
    </Show>
  );
}

function EntityTitle({ model }: { readonly model: PageModel }) {
  const entity = useRecordContext<EntityRecord>();
  return entity ? <span>{nameOf(entity, model)}</span> : null;
}

function EntityActions({ model }: { readonly model: PageModel }) {
  const entity = useRecordContext<EntityRecord>();
  const redirect = useRedirect();
  const { remove } = model.operations;
  if (entity === undefined) return null;
  return (
    <TopToolbar sx={{ flexWrap: "wrap", alignItems: "center" }}>
      <Link to={`/${model.name}`} variant="body2" sx={{ mr: "auto" }}>{`‹ ${model.menu}`}</Link>
      <ActionButtons model={model} entity={entity} />
      {remove && (
        <RemoveButton
          resource={model.name}
          entity={entity}
          name={nameOf(entity, model)}
          to={model.hasTrash ? "trash" : "nowhere"}
          onRemoved={() => redirect("list", model.name)}
        />
      )}
    </TopToolbar>
  );
}

interface EntityPanelsProps {
  readonly model: PageModel;
  readonly form: readonly Field[];
}

function EntityPanels({ model, form }: EntityPanelsProps) {
  const entity = useRecordContext<EntityRecord>();
  const answer = model.operations.one?.answer ?? [];
  const named = unlisted(model.operations.one);
  const { data } = useGetOne<EntityRecord>(
    model.name,
    { id: entity?._id ?? "", meta: { populate: named.map(({ name }) => name) } },
    { enabled: entity !== undefined && named.length > 0, retry: false },
  );
  if (entity === undefined) return null;
  const { parts, files, path } = model;
  const populated = Object.fromEntries(
    data === undefined ? [] : named.map(({ name }) => [name, data[name]]),
  );
  const own = new Set([...parts, ...files].map(({ property }) => property));
  const unnamed = form.filter(({ name }) => !named.some((each) => each.name === name));
  const facts = factsOf(answer, unnamed).filter(({ name, readonly }) =>
    !own.has(name) && !(readonly && entity[name] === undefined)
  );
  return (
    <Stack sx={{ flex: form.length > 0 ? "1.5 1 0" : "1 1 0", gap: 2, minWidth: 0 }}>
      <Card variant="outlined" component="section" aria-label="Details">
        <CardContent>
          <Typography variant="h6" component="h2" gutterBottom>Details</Typography>
          <Facts
            model={model}
            entity={{ ...entity, ...populated, Identifier: entity._id }}
            fields={identifierLast(facts)}
          />
        </CardContent>
      </Card>
      <FilePanels files={files} path={path} entity={entity} fields={answer} />
      {parts.map((part) => (
        <PartsPanel
          key={part.property}
          part={part}
          resource={partResource(model.name, entity._id, part.property)}
          path={partResource(path, entity._id, part.property)}
        />
      ))}
      {model.added.history && <HistoryPanel model={model} entity={entity} fields={answer} />}
    </Stack>
  );
}

function identifierLast(fields: readonly Field[]): readonly Field[] {
  return [
    ...fields.filter(({ name }) => name !== "_id"),
    ...fields.filter(({ name }) => name === "_id").map((field) => ({
      ...field,
      name: "Identifier",
    })),
  ];
}
