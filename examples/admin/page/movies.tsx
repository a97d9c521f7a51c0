/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { AutocompleteArrayInput, BulkDeleteButton, BulkUpdateButton } from "react-admin";
import { Create, DataTable, ImageField, ImageInput, List, NumberInput } from "react-admin";
import { ReferenceArrayField } from "react-admin";
import { ReferenceArrayInput, SimpleForm, TextInput } from "react-admin";
import { EditPage } from "./edit_page.tsx";

const FILTERS = [
  <TextInput key="name" source="name" alwaysOn />,
  <NumberInput key="since" source="since" alwaysOn />,
];

/** No comma in a year. */
export const PLAIN = { useGrouping: false };

/** Each of them is one request, however many movies are ticked. */
const BULK_ACTIONS = (
  <>
    <BulkUpdateButton label="Forget the year" data={{ year: null }} mutationMode="pessimistic" />
    <BulkDeleteButton mutationMode="pessimistic" />
  </>
);

/** The columns that the server can sort by are those that it declares. */
export function MovieList() {
  return (
    <List sort={{ field: "year", order: "ASC" }} perPage={10} filters={FILTERS} exporter={false}>
      <DataTable bulkActionButtons={BULK_ACTIONS}>
        <DataTable.Col source="name" />
        <DataTable.NumberCol source="year" options={PLAIN} />
        <DataTable.Col source="actors" disableSort>
          <ReferenceArrayField source="actors" reference="actors" />
        </DataTable.Col>
      </DataTable>
    </List>
  );
}

export function MovieEdit() {
  return (
    <EditPage>
      {INPUTS}
      <ImageInput source="poster" accept={{ "image/*": [] }}>
        <ImageField source="src" title="title" />
      </ImageInput>
    </EditPage>
  );
}

export function MovieCreate() {
  return (
    <Create>
      <SimpleForm>{INPUTS}</SimpleForm>
    </Create>
  );
}

/** The server checks what is typed, and nobody else does. */
const INPUTS = (
  <>
    <TextInput source="name" />
    <TextInput source="description" multiline />
    <NumberInput source="year" />
    <ReferenceArrayInput source="actors" reference="actors">
      <AutocompleteArrayInput filterToQuery={(name: string) => ({ name })} />
    </ReferenceArrayInput>
  </>
);
