/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Card, CardContent, Stack, Table, TableBody, TableCell } from "@mui/material";
import { TableContainer, TableHead, TablePagination, TableRow, Typography } from "@mui/material";
import { Fragment, useEffect, useState } from "react";
import { useDataProvider, useGetList, useNotify } from "react-admin";
import type { PagePart, PageRoute } from "../src/admin/document.ts";
import { ActorName, isStamp } from "./actor_name.tsx";
import { changedBody, formValues } from "./body.ts";
import { type Conflict, ConflictDialog } from "./conflict_dialog.tsx";
import { isConflict, messageOf } from "./failure.ts";
import { nameOf, partFields, readableName } from "./fields.ts";
import { FileBox } from "./file_box.tsx";
import { isNumber } from "./format.ts";
import { FormDialog } from "./form_dialog.tsx";
import { pageSizes } from "./list_query.ts";
import type { Entity } from "./page_context.ts";
import { partResource } from "./part_resource.ts";
import { RemoveButton } from "./remove_button.tsx";
import { useRefreshAround } from "./typed_values.ts";
import { AT_THE_SIDE, FLUSH, ShownValue } from "./value.tsx";

interface PartsPanelProps {
  readonly part: PagePart;
  readonly resource: string;
  readonly path: string;
}

type PartRecord = Entity & { readonly id: string };

type Values = Readonly<Record<string, unknown>>;

interface PartConflict extends Conflict {
  readonly stored: PartRecord;
}

export function PartsPanel({ part, resource, path }: PartsPanelProps) {
  const { property, operations } = part;
  const notify = useNotify();
  const refresh = useRefreshAround();
  const provider = useDataProvider();
  const [edited, setEdited] = useState<PartRecord | "new">();
  const [conflict, setConflict] = useState<PartConflict>();
  const [page, setPage] = useState(1);
  const perPage = pageSizes(part).at(-1) ?? 100;
  const { data = [], total, pageInfo, error, isPending } = useGetList<PartRecord>(
    resource,
    { pagination: { page, perPage } },
    { placeholderData: (before) => before },
  );
  const isEmpty = !isPending && !error && data.length === 0;
  // The removal of the last part of a page leads to the page before.
  useEffect(() => {
    if (isEmpty && page > 1) setPage(page - 1);
  }, [isEmpty, page]);
  const hasMore = total === undefined ? pageInfo?.hasNextPage : total > page * perPage;
  const title = readableName(property);
  const save = async (values: Values) => {
    if (edited === "new") {
      await provider.create(resource, { data: values });
      notify("Saved", { type: "success" });
    } else if (edited) await update(edited, values);
    setEdited(undefined);
    refresh();
  };
  const update = async (previousData: PartRecord, data: Values) => {
    const { id } = previousData;
    try {
      await provider.update(resource, { id, data, previousData });
      notify("Saved", { type: "success" });
    } catch (error) {
      if (!isConflict(error)) throw error;
      refresh();
      if (operations.one === undefined) throw error;
      const mine = changedBody(data, { fields: partFields(part), before: previousData });
      const { data: stored } = await provider.getOne<PartRecord>(resource, { id });
      setConflict({ mine, stored });
    }
  };
  const keepMine = async ({ mine, stored }: PartConflict) => {
    setConflict(undefined);
    const fields = operations.update?.body ?? [];
    await update(stored, { ...formValues(stored, fields), ...mine })
      .catch((error) => notify(messageOf(error), { type: "error", multiLine: true }));
    refresh();
  };
  const body = edited === "new" ? operations.create?.body : partFields(part);
  return (
    <Card variant="outlined" component="section" aria-label={title}>
      <CardContent>
        <Stack direction="row" sx={{ alignItems: "center", justifyContent: "space-between" }}>
          <Typography variant="h6" component="h2">{title}</Typography>
          {operations.create && <Button size="small" onClick={() => setEdited("new")}>Add</Button>}
        </Stack>
        {error && <Typography color="error">{messageOf(error)}</Typography>}
        {isEmpty && (
          <Typography variant="body2" color="textSecondary">
            {operations.create
              ? 'Nothing here yet. "Add" creates the first entry.'
              : "Nothing here yet."}
          </Typography>
        )}
        {data.length > 0 && operations.all && (
          <PartsTable
            rows={data}
            list={operations.all}
            part={part}
            resource={resource}
            path={path}
            onEdit={(row) => setEdited(formValues(row, operations.update?.body ?? []))}
          />
        )}
        {data.length > 0 && (hasMore || page > 1) && (
          <TablePagination
            component="div"
            count={total ?? (hasMore ? -1 : (page - 1) * perPage + data.length)}
            page={page - 1}
            rowsPerPage={perPage}
            rowsPerPageOptions={[perPage]}
            onPageChange={(_event, next) => setPage(next + 1)}
          />
        )}
        {edited && body && (
          <FormDialog
            title={edited === "new"
              ? `Add to ${title.toLowerCase()}`
              : `Change ${title.toLowerCase()}`}
            label="Save"
            fields={body}
            isNew={edited === "new"}
            {...edited !== "new" && { initial: edited }}
            onSubmit={save}
            onClose={() => setEdited(undefined)}
          />
        )}
        {conflict && (
          <ConflictDialog
            {...conflict}
            fields={partFields(part)}
            onKeepMine={() => void keepMine(conflict)}
            onTakeStored={() => {
              setConflict(undefined);
              refresh();
            }}
          />
        )}
      </CardContent>
    </Card>
  );
}

interface PartsTableProps {
  readonly rows: readonly PartRecord[];
  readonly list: PageRoute;
  readonly part: PagePart;
  readonly resource: string;
  readonly path: string;
  readonly onEdit: (row: PartRecord) => void;
}

function PartsTable({ rows, list, part, resource, path, onEdit }: PartsTableProps) {
  const { operations } = part;
  const [opened, setOpened] = useState<{ readonly id: string; readonly below: PagePart }>();
  const files = new Map(part.files.map((file) => [file.property, file]));
  const hidden = new Set(["_id", "__v", ...part.parts.map(({ property }) => property)]);
  const columns = list.answer.filter(({ name }) => !hidden.has(name));
  const hasButtons = part.parts.length > 0 || operations.update !== undefined ||
    operations.remove !== undefined;
  return (
    <TableContainer>
      <Table size="small" sx={FLUSH}>
        <TableHead>
          <TableRow>
            {columns.map((field) => (
              <TableCell key={field.name} align={isNumber(field) ? "right" : "left"}>
                {readableName(field.name)}
              </TableCell>
            ))}
            {hasButtons && <TableCell align="right" sx={AT_THE_SIDE}>Actions</TableCell>}
          </TableRow>
        </TableHead>
        <TableBody>
          {rows.map((row) => (
            <Fragment key={row.id}>
              <TableRow>
                {columns.map((field) => {
                  const value = row[field.name];
                  const file = files.get(field.name);
                  return (
                    <TableCell key={field.name} align={isNumber(field) ? "right" : "left"}>
                      {file !== undefined
                        ? <FileBox file={file} path={path} entity={row} fields={list.answer} />
                        : isStamp(value, field.name, part.stamps)
                        ? <ActorName path={path} id={row._id} actor={value} />
                        : <ShownValue value={value} field={field} />}
                    </TableCell>
                  );
                })}
                {hasButtons && (
                  <TableCell align="right" sx={AT_THE_SIDE}>
                    {part.parts.map((below) => {
                      const isOpen = opened?.id === row.id && opened.below === below;
                      return (
                        <Button
                          key={below.property}
                          size="small"
                          aria-expanded={isOpen}
                          onClick={() => setOpened(isOpen ? undefined : { id: row.id, below })}
                        >
                          {readableName(below.property)}
                        </Button>
                      );
                    })}
                    {operations.update && (
                      <Button size="small" onClick={() => onEdit(row)}>Change</Button>
                    )}
                    {operations.remove && (
                      <RemoveButton
                        resource={resource}
                        entity={row}
                        name={nameOf(row, part)}
                        to="nowhere"
                      />
                    )}
                  </TableCell>
                )}
              </TableRow>
              {opened?.id === row.id && (
                <TableRow>
                  <TableCell colSpan={columns.length + 1}>
                    <PartsPanel
                      part={opened.below}
                      resource={partResource(resource, row.id, opened.below.property)}
                      path={partResource(path, row.id, opened.below.property)}
                    />
                  </TableCell>
                </TableRow>
              )}
            </Fragment>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  );
}
