/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Create, SaveButton, SimpleForm, Toolbar, useNotify, useRedirect } from "react-admin";
import { messageOf } from "./failure.ts";
import { singularOf } from "./fields.ts";
import { FieldInputs } from "./inputs.tsx";
import { LeaveQuestion } from "./leave_question.tsx";
import { type Entity, useModel } from "./page_context.ts";
import { AT_ONCE } from "./typed_values.ts";

export function EntityCreate({ name }: { readonly name: string }) {
  const model = useModel(name);
  const notify = useNotify();
  const redirect = useRedirect();
  const { one, create } = model.operations;
  const onError = (error: unknown) => notify(messageOf(error), { type: "error", multiLine: true });
  const next = one === undefined ? "list" : model.operations.update ? "edit" : "show";
  const onSuccess = (entity: Entity) => {
    notify("Created", { type: "success" });
    redirect(next, name, entity._id);
  };
  return (
    <Create
      mutationOptions={{ onError, onSuccess, ...AT_ONCE } as object}
      title={`New ${singularOf(model)}`}
    >
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
