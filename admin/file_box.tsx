/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Card, CardContent, LinearProgress, Link, Stack } from "@mui/material";
import { Typography } from "@mui/material";
import type { FileJson } from "@mongrove/mongrove/client";
import { type MouseEvent, useId, useRef, useState } from "react";
import { Confirm, useNotify } from "react-admin";
import type { PageFile } from "../src/admin/document.ts";
import { failure, isConflict, messageOf } from "./failure.ts";
import { type Field, readableName } from "./fields.ts";
import { FileImage } from "./file_image.tsx";
import { type Entity, usePage } from "./page_context.ts";
import { saveBlob } from "./save_blob.ts";
import { sendBound } from "./send_bound.ts";
import { readHeaders } from "./session.ts";
import { useRefreshAround } from "./typed_values.ts";

type ShownFile = Partial<FileJson> & Pick<FileJson, "name">;

interface FileBoxProps {
  readonly file: PageFile;
  readonly path: string;
  readonly entity: Entity;
  readonly fields: readonly Field[];
}

export function FilePanels({ files, ...props }: Omit<FileBoxProps, "file"> & {
  readonly files: readonly PageFile[];
}) {
  return files.map((file) => (
    <Card
      key={file.property}
      variant="outlined"
      component="section"
      aria-label={readableName(file.property)}
    >
      <CardContent>
        <Typography variant="h6" component="h2" gutterBottom>
          {readableName(file.property)}
        </Typography>
        <FileBox file={file} {...props} />
      </CardContent>
    </Card>
  ));
}

export function FileBox({ file, path, entity, fields }: FileBoxProps) {
  const { property, operations, accept, maxBytes } = file;
  const { open } = usePage();
  const notify = useNotify();
  const refresh = useRefreshAround();
  const input = useRef<HTMLInputElement>(null);
  const [sending, setSending] = useState<{ readonly name: string; readonly stop: () => void }>();
  const [problem, setProblem] = useState<string>();
  const [isRemoving, setRemoving] = useState(false);
  const rulesId = useId();
  const field = fields.find(({ name }) => name === property);
  // An answer without the field does not say whether the entity has a file.
  const stored = (field ? entity[property] : { name: property }) as ShownFile | undefined;
  const resource = open(path).file(property, entity._id);
  const write = async (what: string, send: (match: object) => Promise<unknown>) => {
    setProblem(undefined);
    try {
      await sendBound({ resource: open(path), before: entity, names: [property], send });
      notify("Saved", { type: "success" });
      refresh();
    } catch (error) {
      setProblem(problemOf(what, error));
      if (isConflict(error)) refresh();
    }
  };
  const put = async (chosen: File) => {
    if (maxBytes !== undefined && chosen.size > maxBytes) {
      return setProblem(`"${chosen.name}" is larger than ${sizeOf(maxBytes)}`);
    }
    const controller = new AbortController();
    setSending({ name: chosen.name, stop: () => controller.abort() });
    const { signal } = controller;
    await write("store the file", (match) => resource.put(chosen, { ...match, signal }));
    setSending(undefined);
  };
  return (
    <Stack sx={{ gap: 1, alignItems: "flex-start" }}>
      {stored && <StoredFile stored={stored} {...{ file, path, entity }} />}
      {!stored && <Typography variant="body2" color="text.secondary">No file</Typography>}
      <Stack direction="row" useFlexGap sx={{ flexWrap: "wrap", alignItems: "center" }}>
        {operations.includes("replace") && (
          <Button
            size="small"
            disabled={sending !== undefined}
            aria-describedby={rulesId}
            onClick={() => input.current?.click()}
          >
            {stored ? "Replace" : "Upload"}
          </Button>
        )}
        {stored && operations.includes("remove") && (
          <Button
            size="small"
            color="error"
            onClick={() => setRemoving(true)}
          >
            Remove file
          </Button>
        )}
        <Typography id={rulesId} variant="caption" color="text.secondary">
          {rulesOf(file)}
        </Typography>
      </Stack>
      <input
        type="file"
        hidden
        ref={input}
        accept={accept?.join()}
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen) void put(chosen);
          // An empty input lets the reader choose the same file again.
          target.value = "";
        }}
      />
      {sending && (
        <Stack direction="row" sx={{ gap: 1, alignItems: "center", width: "100%" }}>
          <LinearProgress aria-label={`Storing ${sending.name}`} sx={{ flex: 1 }} />
          <Button size="small" onClick={sending.stop}>Stop</Button>
        </Stack>
      )}
      {problem && <Typography variant="body2" color="error" role="alert">{problem}</Typography>}
      <Confirm
        isOpen={isRemoving}
        title={`Remove file: ${stored?.name}`}
        content="This cannot be undone."
        confirm="Remove file"
        onConfirm={() => {
          setRemoving(false);
          void write("remove the file", (match) => resource.remove(match));
        }}
        onClose={() => setRemoving(false)}
      />
    </Stack>
  );
}

function problemOf(what: string, error: unknown): string {
  if (error instanceof DOMException && error.name === "AbortError") return "Stopped";
  const problem = messageOf(failure(what, error));
  return isConflict(error) ? `${problem}. The page shows what is stored now. Try again` : problem;
}

function StoredFile({ stored, file, path, entity }: Omit<FileBoxProps, "fields"> & {
  readonly stored: ShownFile;
}) {
  const { open, urlOf } = usePage();
  const notify = useNotify();
  const { name, type, size = 0, sha256 } = stored;
  const get = (signal?: AbortSignal) =>
    open(path).file(file.property, entity._id).get(signal ? { signal } : {});
  const download = async () => {
    saveBlob(await (await get()).blob(), name);
  };
  const tell = (error: unknown) =>
    notify(messageOf(failure("load the file", error)), { type: "error", multiLine: true });
  const facts = (
    <Typography component="span" variant="caption">
      {type && `${type}, ${sizeOf(size)}`}
    </Typography>
  );
  if (!file.operations.includes("one")) {
    return <Typography variant="body2">{name} {facts}</Typography>;
  }
  return (
    <>
      <Typography variant="body2" sx={{ overflowWrap: "anywhere" }}>
        <Link
          href={urlOf(`${path}/${encodeURIComponent(entity._id)}/${file.property}`)}
          download={name}
          onClick={(event: MouseEvent) => {
            // A link sends cookies, but not the header of a login.
            if (Object.keys(readHeaders()).length === 0) return;
            event.preventDefault();
            download().catch(tell);
          }}
        >
          {name}
        </Link>{" "}
        {facts}
      </Typography>
      {type?.startsWith("image/") && size <= MAX_SHOWN && (
        <FileImage key={sha256} name={name} get={get} />
      )}
    </>
  );
}

/** In bytes. The page does not load a larger picture by itself. */
const MAX_SHOWN = 10_000_000;

function rulesOf({ accept, maxBytes, operations }: PageFile): string {
  if (!operations.includes("replace")) return "";
  const size = maxBytes === undefined ? "" : `up to ${sizeOf(maxBytes)}`;
  return [accept?.join(" or "), size].filter(Boolean).join(", ");
}

const UNITS = ["bytes", "kB", "MB", "GB"];

function sizeOf(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3));
  const number = (bytes / 1000 ** step).toLocaleString("en", { maximumSignificantDigits: 3 });
  return `${number} ${UNITS[step]}`;
}
