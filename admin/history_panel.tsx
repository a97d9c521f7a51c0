/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Card, CardContent, Stack, Typography } from "@mui/material";
import { useEffect, useState } from "react";
import { Confirm, useNotify, useRefresh } from "react-admin";
import type { PageModel, PagePart } from "../src/admin/document.ts";
import { isSame } from "./body.ts";
import { failure, messageOf } from "./failure.ts";
import { dateWords } from "./format.ts";
import { type Field, readableName } from "./fields.ts";
import { type Entity, type HistoryRecord, usePage } from "./page_context.ts";
import { Facts } from "./value.tsx";

interface HistoryPanelProps {
  readonly model: PageModel;
  readonly entity: Entity;
  readonly fields: readonly Field[];
}

const PAGE = 20;

const LOSS = " Entries that were added since then are removed, and their files are lost for good.";

/** Parts with a collection of their own are no fields of the entity, and are not set back. */
function losesFiles(parts: readonly PagePart[], fields: readonly Field[]): boolean {
  return parts.some((part) => fields.some(({ name }) => name === part.property) && hasFiles(part));
}

function hasFiles({ files, parts }: PagePart): boolean {
  return files.length > 0 || parts.some(hasFiles);
}

export function HistoryPanel({ model, entity, fields }: HistoryPanelProps) {
  const { open } = usePage();
  const notify = useNotify();
  const refresh = useRefresh();
  const [records, setRecords] = useState<readonly HistoryRecord[]>();
  const [hasMore, setMore] = useState(false);
  const [chosen, setChosen] = useState<number>();
  const resource = open(model.path);
  const tell = (error: unknown) => notify(messageOf(error), { type: "error", multiLine: true });
  const load = async (known: readonly HistoryRecord[]) => {
    const last = known.at(-1);
    const more = await resource.history(entity._id, {
      limit: PAGE,
      names: true,
      ...last && { after: last.version },
    })
      .catch((error) => Promise.reject(failure("load the history", error)));
    setRecords([...known, ...more]);
    setMore(more.length === PAGE);
  };
  // A write of this page adds a record to the history that is shown.
  useEffect(() => {
    if (records !== undefined) load([]).catch(tell);
  }, [entity.__v]);
  const revert = async (version: number) => {
    setChosen(undefined);
    const now = await resource.revert(
      entity._id,
      version,
      "__v" in entity ? { ifMatch: entity } : {},
    )
      .catch((error) => Promise.reject(failure(`set back to version ${version}`, error)));
    if (hasChanged(entity, now, fields)) {
      notify(`Set back to version ${version}`, { type: "success" });
    } else notify("Nothing was changed");
    refresh();
  };
  return (
    <Card variant="outlined" component="section" aria-label="History">
      <CardContent>
        <Stack direction="row" sx={{ alignItems: "center", justifyContent: "space-between" }}>
          <Typography variant="h6" component="h2">History</Typography>
          <Button size="small" onClick={() => void load([]).catch(tell)}>
            {records === undefined ? "Show" : "Load again"}
          </Button>
        </Stack>
        {records?.map((record, index) => (
          <Version
            key={record.version}
            record={record}
            fields={fields.filter(({ name }) => !model.stamps.includes(name))}
            onRevert={model.added.revert && index > 0 ? () => setChosen(record.version) : undefined}
          />
        ))}
        {records?.length === 0 && <Typography variant="body2">There are no records.</Typography>}
        {hasMore && <Button onClick={() => void load(records ?? []).catch(tell)}>Show more</Button>}
        <Confirm
          isOpen={chosen !== undefined}
          title={`Set back to version ${chosen}?`}
          content={`Your fields get the values that they had after this version.${
            losesFiles(model.parts, fields) ? LOSS : ""
          }`}
          confirm="Set back"
          onConfirm={() => void revert(chosen ?? 0).catch(tell)}
          onClose={() => setChosen(undefined)}
        />
      </CardContent>
    </Card>
  );
}

/** Stamps are readonly, and change with each write. */
function hasChanged(before: Entity, now: Entity, fields: readonly Field[]): boolean {
  return fields.some(({ name, readonly }) =>
    name !== "__v" && !readonly && !isSame(before[name], now[name])
  );
}

/** Words for the operations, whose names readers do not know. */
const DONE: Readonly<Record<string, string>> = {
  create: "created",
  update: "changed",
  replace: "changed",
  remove: "removed",
  restore: "restored",
  revert: "set back",
  updateAll: "changed",
  removeAll: "removed",
};

interface VersionProps {
  readonly record: HistoryRecord;
  /** The fields without stamps, because each record names its sender. */
  readonly fields: readonly Field[];
  readonly onRevert: (() => void) | undefined;
}

function Version({ record, fields, onRevert }: VersionProps) {
  const { version, at, actor, operation, changed, before } = record;
  const { actorName = actor } = record;
  const by = actor === undefined ? "" : ` by ${actorName}`;
  const replaced = fields.filter(({ name }) => name in before);
  const names = changed.filter((name) => fields.some((field) => field.name === name));
  return (
    <Stack sx={{ py: 1.5, borderTop: 1, borderColor: "divider", gap: 1 }}>
      <Stack direction="row" sx={{ alignItems: "center", justifyContent: "space-between", gap: 1 }}>
        <Typography variant="body2">
          <strong>Version {version}</strong>:{" "}
          {DONE[operation] ?? readableName(operation).toLowerCase()}
          {by}, {dateWords(at)}
          {names.length > 0 && (
            <>
              <br />Changed: {names.map(readableName).join(", ")}
            </>
          )}
        </Typography>
        {onRevert && <Button size="small" onClick={onRevert}>Set back</Button>}
      </Stack>
      {replaced.length > 0 && (
        <>
          <Typography variant="caption">Before</Typography>
          <Facts entity={before as Entity} fields={replaced} />
        </>
      )}
    </Stack>
  );
}
