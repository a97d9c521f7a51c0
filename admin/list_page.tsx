/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Stack, type Theme, Typography, useMediaQuery } from "@mui/material";
import { isValidElement } from "react";
import { CreateButton, DataTable, FilterButton, List, Pagination, SimpleList } from "react-admin";
import { FilterContext, Link, TopToolbar, useCreatePath, useFilterContext } from "react-admin";
import { useListContext, useRecordContext } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { ActionButtons } from "./action_buttons.tsx";
import { ActorName, isStamp } from "./actor_name.tsx";
import { BulkButtons, hasBulk } from "./bulk_buttons.tsx";
import { ColumnsButton, useColumns } from "./columns_button.tsx";
import { CsvButton } from "./csv_button.tsx";
import {
  columnsOf,
  type Field,
  nameOf,
  parameterOf,
  pluralOf,
  readableName,
  singularOf,
} from "./fields.ts";
import { FileThumb } from "./file_thumb.tsx";
import { filterInputs } from "./filter_inputs.tsx";
import { isNumber } from "./format.ts";
import { filterOf, pageSizes, SEARCH, TRASH } from "./list_query.ts";
import { LiveSwitch } from "./live_switch.tsx";
import { type Entity, useModel, usePage } from "./page_context.ts";
import { TrashButtons } from "./trash_buttons.tsx";
import { AT_THE_SIDE, ShownValue } from "./value.tsx";

type EntityRecord = Entity & { readonly id: string };

export function EntityList({ name }: { readonly name: string }) {
  const { document } = usePage();
  const model = useModel(name);
  const sizes = pageSizes(model);
  const perPage = sizes.includes(25) ? 25 : sizes.at(-1) ?? 10;
  return (
    <List
      title={model.menu}
      filters={filterInputs(model, document.models)}
      actions={<ListActions model={model} />}
      empty={<EmptyList model={model} />}
      pagination={<Pagination rowsPerPageOptions={[...sizes]} />}
      perPage={perPage}
      exporter={false}
      sx={NARROW}
      queryOptions={{ retry: false }}
      // The order of the API applies until the reader chooses another one.
      sort={{ field: "", order: "ASC" }}
    >
      <Rows model={model} />
    </List>
  );
}

/** The browser may keep the trash filter of an earlier user who could see the trash. */
function useIsTrash({ hasTrash }: PageModel): boolean {
  return hasTrash && Boolean(useListContext().filterValues[TRASH]);
}

function Rows({ model }: { readonly model: PageModel }) {
  const isPhone = useMediaQuery<Theme>((theme) => theme.breakpoints.down("sm"));
  const { error } = useListContext();
  const isTrash = useIsTrash(model);
  const list = model.operations.all;
  if (list === undefined) return null;
  if (error) {
    return <Typography color="error" sx={{ p: 2 }} role="alert">{error.message}</Typography>;
  }
  if (isPhone) return <Cards model={model} isTrash={isTrash} />;
  return isTrash ? <TrashGrid model={model} /> : <Grid model={model} />;
}

interface RowsProps {
  readonly model: PageModel;
}

const EMPTY_TRASH = <Typography variant="body2" sx={{ p: 2 }}>The trash is empty.</Typography>;

/** The names of the columns and filters that only the trash has. */
const OF_REMOVAL = /^deleted(At|By)(:|$)/;

/** React-admin knows hidden columns by their places, but this page chooses columns by name. */
const NONE: string[] = [];

/** A table that is wider than the page is scrolled, and not the page. */
const SCROLLED = { "& .RaDataTable-tableWrapper": { overflowX: "auto", borderRadius: "10px" } };
const NARROW = { "& .RaList-main": { minWidth: 0 } };

const TITLE = { "&.RaDataTable-rowCell .MuiTypography-root": { fontWeight: 600 } };

function Grid({ model }: RowsProps) {
  const sorted = parameterOf(model.operations.all, "sort")?.fields ?? [];
  const [columns] = useColumns(model);
  // A reference is a link to another entity.
  const own = columns.filter(({ model, items }) => (model ?? items?.model) === undefined);
  const linked = own.find(({ name }) => model.title.includes(name)) ?? own[0];
  return (
    <DataTable
      bulkActionButtons={hasBulk(model) ? <BulkButtons model={model} /> : false}
      rowClick={rowClick(model)}
      hiddenColumns={NONE}
      sx={SCROLLED}
    >
      {columns.map((field) => (
        <DataTable.Col
          key={field.name}
          source={field.name}
          label={readableName(field.name)}
          align={isNumber(field) ? "right" : "left"}
          sx={model.title.includes(field.name) ? TITLE : undefined}
          disableSort={!sorted.includes(field.name)}
        >
          {field === linked
            ? <LinkedCell field={field} model={model} />
            : <Cell field={field} model={model} />}
        </DataTable.Col>
      ))}
    </DataTable>
  );
}

/** The keyboard and screen readers cannot open the row itself. */
function LinkedCell({ field, model }: { readonly field: Field; readonly model: PageModel }) {
  const entity = useRecordContext<EntityRecord>();
  const path = useCreatePath();
  const type = rowClick(model);
  const cell = <Cell field={field} model={model} />;
  if (entity === undefined || type === false) return cell;
  return (
    <Link
      to={path({ resource: model.name, type, id: entity._id })}
      onClick={(event: Event) => event.stopPropagation()}
      color="inherit"
      underline="hover"
    >
      {cell}
    </Link>
  );
}

function TrashGrid({ model }: RowsProps) {
  const columns = columnsOf(model, model.list);
  return (
    <DataTable
      bulkActionButtons={false}
      empty={EMPTY_TRASH}
      rowClick={false}
      hiddenColumns={NONE}
      sx={SCROLLED}
    >
      {[...columns, ...trashColumns(model, columns)].map((field) => (
        <DataTable.Col
          key={field.name}
          source={field.name}
          label={readableName(field.name)}
          align={isNumber(field) ? "right" : "left"}
          disableSort
        >
          <Cell field={field} model={model} />
        </DataTable.Col>
      ))}
      <DataTable.Col label="Actions" disableSort sx={AT_THE_SIDE}>
        <TrashButtons model={model} />
      </DataTable.Col>
    </DataTable>
  );
}

function trashColumns(
  { operations: { all } }: PageModel,
  columns: readonly Field[],
): readonly Field[] {
  const known = new Set(columns.map(({ name }) => name));
  return (all?.answer ?? []).filter(({ name }) => OF_REMOVAL.test(name) && !known.has(name));
}

function Cell({ field, model }: { readonly field: Field; readonly model: PageModel }) {
  const entity = useRecordContext<EntityRecord>();
  const value = entity?.[field.name];
  if (entity !== undefined && isStamp(value, field.name, model.stamps)) {
    return <ActorName path={model.path} id={entity._id} actor={value} />;
  }
  const file = model.files.find(({ property }) => property === field.name);
  if (file !== undefined && entity !== undefined && typeof value === "object" && value !== null) {
    return <FileThumb file={file} path={model.path} id={entity._id} stored={value} />;
  }
  return <ShownValue value={value} field={field} isShort />;
}

const CARDS = {
  "& li": { borderBottom: 1, borderColor: "divider", overflowWrap: "anywhere" },
  "& li:last-child": { borderBottom: 0 },
  "& .RaSimpleList-tertiary": { opacity: 1 },
};

/** A phone has no room for a table. */
function Cards({ model, isTrash }: RowsProps & { readonly isTrash: boolean }) {
  const [chosen] = useColumns(model);
  const removal = isTrash ? trashColumns(model, []) : [];
  const columns = [...new Set([...removal, ...chosen])].filter(({ name }) =>
    !model.title.includes(name)
  );
  const label = columns.find((field) => field.enum !== undefined);
  const others = columns.filter((field) => field !== label);
  return (
    <SimpleList<EntityRecord>
      sx={CARDS}
      primaryText={(entity) => nameOf(entity, model)}
      secondaryText={(entity) => (
        <Stack
          component="span"
          direction="row"
          sx={{ flexWrap: "wrap", columnGap: 2, rowGap: 0.5 }}
        >
          {others.filter(({ name }) => entity[name] !== undefined && entity[name] !== null)
            .slice(0, 3).map((field) => (
              <span key={field.name}>
                {readableName(field.name)}: <Cell field={field} model={model} />
              </span>
            ))}
          {isTrash && <TrashButtons model={model} />}
        </Stack>
      )}
      {...label && {
        tertiaryText: (entity) => <ShownValue value={entity[label.name]} field={label} isShort />,
      }}
      rowClick={isTrash ? false : rowClick(model)}
      {...isTrash && { empty: EMPTY_TRASH }}
    />
  );
}

function rowClick({ operations: { one, update } }: PageModel): "edit" | "show" | false {
  if (one === undefined) return false;
  return update === undefined ? "show" : "edit";
}

function ListActions({ model }: { readonly model: PageModel }) {
  const { filterValues } = useListContext();
  const { all, create } = model.operations;
  const isTrash = useIsTrash(model);
  // An action takes the filter of the list, but not its search. With a search, it would run on entities that are not
  // shown.
  const hasActions = !isTrash && !filterValues[SEARCH];
  return (
    <TopToolbar sx={{ flexWrap: "wrap", alignItems: "center" }}>
      {all?.filter && <Filters model={model} />}
      {!isTrash && <ColumnsButton model={model} />}
      {hasActions && <ActionButtons model={model} q={filterOf(filterValues, model)} />}
      {all?.isLive && <LiveSwitch model={model} />}
      {all?.isCsv && <CsvButton model={model} />}
      {model.hasTrash && <TrashToggle />}
      {create && !isTrash && <CreateButton label="Add" />}
    </TopToolbar>
  );
}

function Filters({ model }: { readonly model: PageModel }) {
  const isTrash = useIsTrash(model);
  const isHidden = model.hasTrash && !isTrash;
  const filters = useFilterContext()?.filter((each) =>
    !isHidden || !isValidElement<{ source: string }>(each) || !OF_REMOVAL.test(each.props.source)
  );
  return (
    <FilterContext.Provider value={filters}>
      <FilterButton disableSaveQuery />
    </FilterContext.Provider>
  );
}

function TrashToggle() {
  const { filterValues, setFilters } = useListContext();
  const { [TRASH]: isTrash, ...others } = filterValues;
  const kept = Object.entries(others).filter(([name]) => !isTrash || !OF_REMOVAL.test(name));
  const click = () =>
    setFilters({ ...Object.fromEntries(kept), ...!isTrash && { [TRASH]: true } }, undefined);
  return (
    <Button size="small" onClick={click} aria-pressed={Boolean(isTrash)}>
      {isTrash ? "Leave the trash" : "Trash"}
    </Button>
  );
}

function EmptyList({ model }: { readonly model: PageModel }) {
  const { operations: { create }, hasTrash } = model;
  const what = pluralOf(model).toLowerCase();
  return (
    <Stack sx={{ flex: 1, alignItems: "center", gap: 2, py: 8, textAlign: "center" }}>
      <Typography variant="h5" component="h2">
        There are no {what}
        {hasTrash ? "" : " yet"}
      </Typography>
      <Typography color="text.secondary">
        {create
          ? hasTrash ? "Add one, or look in the trash." : `Add the first ${singularOf(model)}.`
          : "They appear here when the application adds some."}
      </Typography>
      {create && <CreateButton label="Add" variant="contained" />}
      {hasTrash && <TrashToggle />}
    </Stack>
  );
}
