/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Create, DataTable, List, ReferenceManyField, SimpleForm, TextInput } from "react-admin";
import { EditPage } from "./edit_page.tsx";
import { PLAIN } from "./movies.tsx";

/** The server gives 20 actors at a time, in its own order. */
export function ActorList() {
  const filters = [<TextInput key="name" source="name" alwaysOn />];
  return (
    <List perPage={20} filters={filters} exporter={false}>
      <DataTable bulkActionButtons={false}>
        <DataTable.Col source="name" disableSort />
      </DataTable>
    </List>
  );
}

/** An actor, with the movies that name the actor. */
export function ActorEdit() {
  return (
    <EditPage>
      <TextInput source="name" />
      <ReferenceManyField reference="movies" target="actors" sort={{ field: "year", order: "ASC" }}>
        <DataTable bulkActionButtons={false}>
          <DataTable.Col source="name" disableSort />
          <DataTable.NumberCol source="year" options={PLAIN} disableSort />
        </DataTable>
      </ReferenceManyField>
    </EditPage>
  );
}

export function ActorCreate() {
  return (
    <Create>
      <SimpleForm>
        <TextInput source="name" />
      </SimpleForm>
    </Create>
  );
}
