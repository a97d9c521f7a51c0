/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Create, SaveButton, SimpleForm, Toolbar, useNotify } from "react-admin";
import { messageOf } from "./failure.ts";
import { singularOf } from "./fields.ts";
import { FieldInputs } from "./inputs.tsx";
import { LeaveQuestion } from "./leave_question.tsx";
import { useModel } from "./page_context.ts";

/** The form for a new entity. */
export function EntityCreate({ name }: { readonly name: string }) {
  const model = useModel(name);
  const notify = useNotify();
  const { one, create } = model.operations;
  const onError = (error: unknown) => notify(messageOf(error), { type: "error", multiLine: true });
  const redirect = one === undefined ? "list" : model.operations.update ? "edit" : "show";
  return (
    <Create redirect={redirect} mutationOptions={{ onError }} title={`New ${singularOf(model)}`}>
      <SimpleForm
        toolbar={<CreateToolbar />}
        disableInvalidFormNotification
        noValidate
        warnWhenUnsavedChanges
        WarnWhenUnsavedChangesComponent={LeaveQuestion}
        sx={{ maxWidth: 800 }}
      >
        <FieldInputs fields={create?.body ?? []} isNew />
      </SimpleForm>
    </Create>
  );
}

function CreateToolbar() {
  return (
    <Toolbar>
      <SaveButton label="Create" alwaysEnable />
    </Toolbar>
  );
}
