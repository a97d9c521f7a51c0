/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Button, Card, Table, TableBody, TableCell, TableContainer } from "@mui/material";
import { TableHead, TableRow, Typography } from "@mui/material";
import { useEffect, useState } from "react";
import { Confirm, Title, TopToolbar, useNotify } from "react-admin";
import type { PageKeys } from "../src/admin/document.ts";
import { ChoiceChip } from "./choice_chip.tsx";
import { failure, messageOf } from "./failure.ts";
import { dateWords } from "./format.ts";
import { FormDialog } from "./form_dialog.tsx";
import { type ApiKey, NewKeyForm, overlapBody, OVERLAPS } from "./key_forms.tsx";
import { MadeKeyDialog } from "./made_key_dialog.tsx";
import { usePage } from "./page_context.ts";
import { ShownValue } from "./value.tsx";

type Asked =
  | { readonly kind: "create" }
  | { readonly kind: "rotate" | "remove"; readonly key: ApiKey };

export function KeysPage({ keys }: { readonly keys: PageKeys }) {
  const resource = usePage().open("/keys");
  const notify = useNotify();
  const [list, setList] = useState<readonly ApiKey[]>();
  const [problem, setProblem] = useState<string>();
  const [asked, setAsked] = useState<Asked>();
  /** The text of a new key, which is stored nowhere else. */
  const [made, setMade] = useState<string>();
  const load = async () => {
    try {
      setList((await resource.all()).items as unknown as readonly ApiKey[]);
      setProblem(undefined);
    } catch (error) {
      setProblem(messageOf(failure("load the API keys", error)));
    }
  };
  useEffect(() => void load(), []);
  const close = () => setAsked(undefined);
  const show = async (what: string, send: () => Promise<unknown>) => {
    const answer = await send().catch((error) => Promise.reject(failure(what, error)));
    close();
    setMade((answer as { readonly key: string }).key);
    await load();
  };
  const end = async ({ id }: ApiKey) => {
    close();
    try {
      await resource.remove(id);
      notify("Ended", { type: "success" });
    } catch (error) {
      notify(messageOf(failure("end the key", error)), { type: "error", multiLine: true });
    }
    await load();
  };
  const canCreate = list !== undefined && keys.operations.includes("create");
  return (
    <Box sx={{ display: "grid", gap: 1 }}>
      <Title title="API keys" />
      <TopToolbar>
        {canCreate && (
          <Button variant="contained" onClick={() => setAsked({ kind: "create" })}>New key</Button>
        )}
      </TopToolbar>
      {problem && <Typography color="error" sx={{ p: 2 }} role="alert">{problem}</Typography>}
      {list?.length === 0 && (
        <Box sx={{ display: "grid", gap: 2, py: 8, textAlign: "center" }}>
          <Typography variant="h5" component="h2">There are no API keys yet</Typography>
          <Typography color="text.secondary">
            A program with a key does what the scopes of the key allow, in your name.
          </Typography>
        </Box>
      )}
      {list !== undefined && list.length > 0 && (
        <KeysTable list={list} keys={keys} onAsk={setAsked} />
      )}
      {asked?.kind === "create" && (
        <NewKeyForm
          scopes={keys.scopes}
          onSubmit={(body) =>
            show("make the key", () => resource.create(body))}
          onClose={close}
        />
      )}
      {asked?.kind === "rotate" && (
        <FormDialog
          title={`Rotate: ${asked.key.name}`}
          label="Rotate"
          help="The key gets a new text, and keeps its scopes."
          fields={OVERLAPS}
          isNew
          onSubmit={(values) =>
            show(
              "rotate the key",
              () => resource.action("rotate", asked.key.id, overlapBody(values)),
            )}
          onClose={close}
        />
      )}
      <Confirm
        isOpen={asked?.kind === "remove"}
        title={asked?.kind === "remove" ? `End: ${asked.key.name}` : ""}
        content="Programs with this key are refused from now on. This cannot be undone."
        confirm="End"
        confirmColor="warning"
        onConfirm={() => void (asked?.kind === "remove" && end(asked.key))}
        onClose={close}
      />
      {made !== undefined && <MadeKeyDialog text={made} onClose={() => setMade(undefined)} />}
    </Box>
  );
}

const STATES = ["valid", "expired", "ended"] as const;

function stateOf({ endedAt, expiresAt }: ApiKey): typeof STATES[number] {
  if (endedAt !== null) return "ended";
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? "expired" : "valid";
}

interface KeysTableProps {
  readonly list: readonly ApiKey[];
  readonly keys: PageKeys;
  readonly onAsk: (asked: Asked) => void;
}

function KeysTable({ list, keys: { owner, operations }, onAsk }: KeysTableProps) {
  const isOwn = (key: ApiKey) => String(key.owner) === owner;
  const hasOwners = !list.every(isOwn);
  const columns = ["Name", "Key", "Scopes", ...hasOwners ? ["Owner"] : [], "Created", "Last used"];
  return (
    <TableContainer component={Card}>
      <Table size="small">
        <TableHead>
          <TableRow>
            {[...columns, "Expires", "State", "Actions"].map((text) => (
              <TableCell key={text}>{text}</TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {list.map((key) => {
            const state = stateOf(key);
            return (
              <TableRow key={key.id}>
                <TableCell component="th" scope="row">{key.name}</TableCell>
                <TableCell>
                  <code>mgv_{key.prefix}…</code>
                </TableCell>
                <TableCell>
                  <ShownValue value={key.scopes} field={SCOPES} />
                </TableCell>
                {hasOwners && <TableCell>{String(key.owner)}</TableCell>}
                <TableCell>{dateWords(key.createdAt)}</TableCell>
                <TableCell>{timeOf(key.lastUsedAt)}</TableCell>
                <TableCell>{timeOf(key.expiresAt)}</TableCell>
                <TableCell>
                  <ChoiceChip value={state} allowed={STATES} />
                </TableCell>
                <TableCell sx={ACTIONS}>
                  {state === "valid" && isOwn(key) && operations.includes("rotate") && (
                    <Button
                      size="small"
                      onClick={() => onAsk({ kind: "rotate", key })}
                    >
                      Rotate
                    </Button>
                  )}
                  {state === "valid" && operations.includes("remove") && (
                    <Button
                      size="small"
                      color="error"
                      onClick={() => onAsk({ kind: "remove", key })}
                    >
                      End
                    </Button>
                  )}
                </TableCell>
              </TableRow>
            );
          })}
        </TableBody>
      </Table>
    </TableContainer>
  );
}

const SCOPES = { type: "Array", items: { type: "String" } };
const ACTIONS = { whiteSpace: "nowrap" };

function timeOf(time: string | null): string {
  return time === null ? "Never" : dateWords(time);
}
