/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { useCreateSuggestionContext, useDataProvider } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { singularOf } from "./fields.ts";
import { FormDialog } from "./form_dialog.tsx";

/** The form of a new entity, which the picker of a reference opens and then selects. */
export function NewReference({ model }: { readonly model: PageModel }) {
  const { filter, onCancel, onCreate } = useCreateSuggestionContext();
  const provider = useDataProvider();
  const fields = model.operations.create?.body ?? [];
  const [first] = model.title;
  const name = fields.some((field) => field.name === first) ? first : undefined;
  const save = async (data: Readonly<Record<string, unknown>>) => {
    onCreate((await provider.create(model.name, { data })).data);
  };
  return (
    <FormDialog
      title={`New ${singularOf(model)}`}
      label="Create"
      fields={fields}
      isNew
      {...filter && name && { initial: { [name]: filter } }}
      onSubmit={save}
      onClose={onCancel}
    />
  );
}
