/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { AutocompleteArrayInput, required } from "react-admin";
import { useWatch } from "react-hook-form";
import type { Field } from "./fields.ts";
import { FormDialog } from "./form_dialog.tsx";
import { FieldInput } from "./inputs.tsx";

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly owner: string | number;
  readonly scopes: readonly string[];
  readonly prefix: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly endedAt: string | null;
}

type Values = Readonly<Record<string, unknown>>;

const DAY_MS = 24 * 3600_000;

/** The lifetimes of a key, in milliseconds. */
const LIFETIMES: Readonly<Record<string, number>> = {
  "In 30 days": 30 * DAY_MS,
  "In 90 days": 90 * DAY_MS,
  "In a year": 365 * DAY_MS,
  Never: Infinity,
};

const NAME: Field = {
  name: "name",
  type: "String",
  required: true,
  readonly: false,
  maxLength: 200,
  description: "The program that uses the key",
};

const EXPIRES: Field = {
  name: "expires",
  type: "String",
  enum: Object.keys(LIFETIMES),
  default: "In 90 days",
  required: true,
  readonly: false,
};

interface NewKeyFormProps {
  readonly scopes: readonly string[];
  readonly onSubmit: (body: object) => Promise<void>;
  readonly onClose: () => void;
}

export function NewKeyForm({ scopes, onSubmit, onClose }: NewKeyFormProps) {
  const submit = ({ name, scopes, expires }: Values) => {
    const lastsMS = LIFETIMES[String(expires)] ?? Infinity;
    const expiresAt = lastsMS === Infinity ? null : new Date(Date.now() + lastsMS).toISOString();
    return onSubmit({ name, scopes, expiresAt });
  };
  return (
    <FormDialog
      title="New API key"
      label="Make the key"
      fields={[]}
      isNew
      onSubmit={submit}
      onClose={onClose}
    >
      <FieldInput field={NAME} source="name" isNew />
      <ScopesInput scopes={scopes} />
      <FieldInput field={EXPIRES} source="expires" isNew />
    </FormDialog>
  );
}

/** A scope need not be the name of an operation. */
function ScopesInput({ scopes }: { readonly scopes: readonly string[] }) {
  const chosen: readonly string[] = useWatch({ name: "scopes" }) ?? [];
  return (
    <AutocompleteArrayInput
      source="scopes"
      choices={[...new Set([...scopes, ...chosen])].map(choiceOf)}
      onCreate={(text = "") => choiceOf(text.trim())}
      createItemLabel="Add %{item}"
      validate={required()}
      helperText="Choose operations, or type patterns such as tickets:* or tickets/**:*"
      autoHighlight
      fullWidth
    />
  );
}

function choiceOf(scope: string) {
  return { id: scope, name: scope };
}

const BODIES: Readonly<Record<string, object | undefined>> = {
  None: undefined,
  "1 hour": { overlap: "1h" },
  "24 hours": { overlap: "24h" },
  "7 days": { overlap: "7d" },
};

export const OVERLAPS: readonly Field[] = [{
  name: "overlap",
  type: "String",
  enum: Object.keys(BODIES),
  default: "None",
  description: "How long the old text stays valid",
  required: true,
  readonly: false,
}];

export function overlapBody({ overlap }: Values): object | undefined {
  return BODIES[String(overlap)];
}
