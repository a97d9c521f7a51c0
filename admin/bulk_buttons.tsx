/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, MenuItem, TextField } from "@mui/material";
import { useState } from "react";
import { Confirm, useDataProvider, useListContext, useNotify, useRefresh } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { messageOf } from "./failure.ts";
import { pluralOf, readableName } from "./fields.ts";
import { FormDialog } from "./form_dialog.tsx";
import { canChoose } from "./list_query.ts";

export function hasBulk({ operations: { updateAll, removeAll } }: PageModel): boolean {
  return canChoose(updateAll) || canChoose(removeAll);
}

export function BulkButtons({ model }: { readonly model: PageModel }) {
  const { updateAll, removeAll } = model.operations;
  return (
    <>
      {canChoose(updateAll) && <BulkChange model={model} />}
      {canChoose(removeAll) && <BulkRemove model={model} />}
    </>
  );
}

function useBulk(model: PageModel) {
  const { selectedIds, onUnselectItems } = useListContext();
  const provider = useDataProvider();
  const notify = useNotify();
  const refresh = useRefresh();
  const done = (what: string) => {
    onUnselectItems();
    refresh();
    notify(`${what}: ${selectedIds.length}`, { type: "success" });
  };
  return { selectedIds, provider, notify, done, plural: pluralOf(model).toLowerCase() };
}

function BulkChange({ model }: { readonly model: PageModel }) {
  const { selectedIds, provider, done, plural } = useBulk(model);
  const [isOpen, setOpen] = useState(false);
  const fields = model.operations.updateAll?.body ?? [];
  const [name, setName] = useState(fields[0]?.name ?? "");
  const chosen = fields.filter((field) => field.name === name);
  const save = async (values: Readonly<Record<string, unknown>>) => {
    await provider.updateMany(model.name, {
      ids: selectedIds,
      data: { [name]: values[name] },
    });
    setOpen(false);
    done("Changed");
  };
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>Change</Button>
      {isOpen && (
        <FormDialog
          title={`Change ${selectedIds.length} ${plural}`}
          label="Change"
          fields={chosen}
          isNew
          onSubmit={save}
          onClose={() => setOpen(false)}
        >
          <TextField
            select
            fullWidth
            margin="dense"
            label="Field"
            value={name}
            onChange={(event) => setName(event.target.value)}
          >
            {fields.map((field) => (
              <MenuItem key={field.name} value={field.name}>{readableName(field.name)}</MenuItem>
            ))}
          </TextField>
        </FormDialog>
      )}
    </>
  );
}

function BulkRemove({ model }: { readonly model: PageModel }) {
  const { selectedIds, provider, notify, done, plural } = useBulk(model);
  const [isOpen, setOpen] = useState(false);
  const remove = async () => {
    setOpen(false);
    await provider.deleteMany(model.name, { ids: selectedIds });
    done("Removed");
  };
  const tell = (error: unknown) => notify(messageOf(error), { type: "error", multiLine: true });
  return (
    <>
      <Button size="small" color="error" onClick={() => setOpen(true)}>Remove</Button>
      <Confirm
        isOpen={isOpen}
        title={`Remove ${selectedIds.length} ${plural}?`}
        content={model.hasTrash ? "They are moved to the trash." : "This cannot be undone."}
        confirm="Remove"
        confirmColor="warning"
        onConfirm={() => void remove().catch(tell)}
        onClose={() => setOpen(false)}
      />
    </>
  );
}
