/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Chip, Stack, Typography } from "@mui/material";
import type { ReactNode } from "react";
import { Link, useCreatePath, useGetOne } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { type Field, modelNamed, nameOf, type Value, wordsOf } from "./fields.ts";
import { type Entity, usePage } from "./page_context.ts";

interface ValueProps {
  readonly value: unknown;
  readonly field: Value;
}

/** Shows a value by the type of its field. */
export function ShownValue({ value, field }: ValueProps): ReactNode {
  const { document } = usePage();
  if (value === undefined || value === null || value === "") return "–";
  const { type, items, fields } = field;
  const target = modelNamed(document.models, field.model);
  if (target !== undefined && type !== "Embedded") {
    return <Reference value={value} model={target} />;
  }
  if (Array.isArray(value) && items !== undefined) {
    return <ShownList values={value} items={items} />;
  }
  if (type === "Embedded" && fields) return <ShownObject value={value} fields={fields} />;
  if (type === "Boolean") return value === true ? "Yes" : "No";
  if (type === "Date") return new Date(String(value)).toLocaleString();
  if (typeof value !== "object") return <Text>{String(value)}</Text>;
  return <Box component="code" sx={CODE}>{JSON.stringify(value, undefined, 1)}</Box>;
}

const CODE = { whiteSpace: "pre-wrap", overflowWrap: "anywhere", fontSize: "0.85em" };

function Text({ children }: { readonly children: string }) {
  const sx = { overflowWrap: "anywhere", whiteSpace: "pre-line" };
  return <Typography component="span" variant="body2" sx={sx}>{children}</Typography>;
}

function ShownList(
  { values, items }: { readonly values: readonly unknown[]; readonly items: Value },
) {
  if (values.length === 0) return "–";
  const isPlain = items.type !== "Embedded" && items.type !== "Object" && items.model === undefined;
  return (
    <Stack direction="row" useFlexGap sx={{ flexWrap: "wrap", gap: 0.75 }}>
      {values.map((value, index) =>
        isPlain
          ? <Chip key={index} size="small" label={String(value)} />
          : <ShownValue key={index} value={value} field={items} />
      )}
    </Stack>
  );
}

function ShownObject(
  { value, fields }: { readonly value: unknown; readonly fields: readonly Field[] },
) {
  const shown = fields.filter(({ name }) => name !== "_id" && name !== "__v");
  return (
    <Box component="dl" sx={FACTS}>
      {shown.map((field) => (
        <Fact key={field.name} label={wordsOf(field.name)}>
          <ShownValue
            value={(value as Readonly<Record<string, unknown>>)[field.name]}
            field={field}
          />
        </Fact>
      ))}
    </Box>
  );
}

const FACTS = { m: 0, display: "grid", gridTemplateColumns: "auto 1fr", columnGap: 2, rowGap: 0.5 };

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <>
      <Typography component="dt" variant="body2" color="text.secondary">{label}</Typography>
      <Typography component="dd" variant="body2" sx={{ m: 0, minWidth: 0 }}>{children}</Typography>
    </>
  );
}

/** Shows fields with their names. */
export function Facts(
  { entity, fields }: { readonly entity: Entity; readonly fields: readonly Field[] },
) {
  return <ShownObject value={entity} fields={fields} />;
}

interface ReferenceProps {
  /** The identifier, or the entity itself if the list has shown it. */
  readonly value: unknown;
  readonly model: PageModel;
}

/** Shows the name of the entity of a reference, with a link to its page. */
function Reference({ value, model }: ReferenceProps) {
  const path = useCreatePath();
  const { one } = model.operations;
  const shown = typeof value === "object" ? value as Entity : undefined;
  const id = String(shown?._id ?? value);
  const { data } = useGetOne<Entity & { readonly id: string }>(model.name, { id }, {
    enabled: shown === undefined && one !== undefined,
    retry: false,
  });
  const entity = shown ?? data;
  const name = entity === undefined ? id : nameOf(entity, model);
  if (one === undefined) return <Text>{name}</Text>;
  const type = model.operations.update === undefined ? "show" : "edit";
  return (
    <Link
      to={path({ resource: model.name, type, id })}
      onClick={(event: Event) => event.stopPropagation()}
    >
      {name}
    </Link>
  );
}
