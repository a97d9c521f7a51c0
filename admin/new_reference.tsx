/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { useCreate } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { singularOf } from "./fields.ts";
import { FormDialog } from "./form_dialog.tsx";
import { AT_ONCE } from "./typed_values.ts";

interface NewReferenceProps {
  readonly model: PageModel;
  readonly onCreated: (id: string | number) => void;
  readonly onClose: () => void;
}

export function NewReference({ model, onCreated, onClose }: NewReferenceProps) {
  const [create] = useCreate(undefined, undefined, AT_ONCE);
  const save = async (data: Readonly<Record<string, unknown>>) => {
    const { id } = await create(model.name, { data }, { returnPromise: true });
    onCreated(id);
  };
  return (
    <FormDialog
      title={`New ${singularOf(model)}`}
      label="Create"
      fields={model.operations.create?.body ?? []}
      isNew
      onSubmit={save}
      onClose={onClose}
    />
  );
}
