/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Chip, Stack, Table, TableBody, TableCell, TableContainer } from "@mui/material";
import { TableHead, TableRow, Typography } from "@mui/material";
import type { ReactNode } from "react";
import { Link, useCreatePath, useGetOne } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { ActorName, isStamp } from "./actor_name.tsx";
import { ChoiceChip } from "./choice_chip.tsx";
import { type Field, modelNamed, nameOf, nameWithin, readableName, type Value } from "./fields.ts";
import { inWords, isNumber } from "./format.ts";
import { type Entity, usePage } from "./page_context.ts";

interface ValueProps {
  readonly value: unknown;
  readonly field: Value;
  /** A table has no room for objects and long texts. */
  readonly isShort?: boolean;
}

export function ShownValue({ value, field, isShort = false }: ValueProps): ReactNode {
  const { document } = usePage();
  if (value === undefined || value === null || value === "") {
    return <Typography component="span" variant="body2" color="text.secondary">–</Typography>;
  }
  const { type, items, fields } = field;
  const target = modelNamed(document.models, field.model);
  if (target !== undefined && type !== "Embedded") {
    return <Reference value={value} model={target} isShort={isShort} />;
  }
  if (Array.isArray(value) && items !== undefined) {
    return <ShownList values={value} items={items} isShort={isShort} />;
  }
  if (type === "Embedded" && fields) {
    return isShort
      ? <Text isShort>{summaryOf(value, fields)}</Text>
      : <ShownObject value={value} fields={fields} />;
  }
  if (field.enum !== undefined) return <ChoiceChip value={value} allowed={field.enum} />;
  if (type === "Boolean") return value === true ? "Yes" : "No";
  if (typeof value !== "object") {
    const isTime = type === "Date" && field.format !== "date";
    return (
      <Text isShort={isShort} isOneWord={type === "Date" || isNumber(field)} isTime={isTime}>
        {inWords(value, field)}
      </Text>
    );
  }
  const name = type === "Object" || type === "Map" ? undefined : nameWithin(value);
  if (name !== undefined) return <Text isShort={isShort}>{name}</Text>;
  const json = JSON.stringify(value, undefined, isShort ? undefined : 1);
  return <Box component="code" sx={{ ...CODE, ...isShort && CUT }}>{json}</Box>;
}

const CODE = { whiteSpace: "pre-wrap", overflowWrap: "anywhere", fontSize: "0.85em" };

/** Cuts a text after its second line. The whole text stays in the document for screen readers. */
const CUT = {
  display: "-webkit-box",
  WebkitBoxOrient: "vertical",
  WebkitLineClamp: 2,
  overflow: "hidden",
  maxWidth: "40ch",
  whiteSpace: "normal",
};

const ONE_LINE = {
  display: "inline-block",
  maxWidth: "24ch",
  overflow: "hidden",
  textOverflow: "ellipsis",
  whiteSpace: "nowrap",
  verticalAlign: "bottom",
};

/** In a table, a text has the room for a few words, a time breaks after its day, and an identifier is cut. */
const WIDTH = 22;
const IN_CELL = "td > &, td > a > &";
const DAY = { [IN_CELL]: { display: "inline-block", whiteSpace: "normal", minWidth: "12ch" } };
const ID = { [IN_CELL]: { ...ONE_LINE, maxWidth: "10ch" } };

interface TextProps {
  readonly children: string;
  readonly isShort?: boolean;
  /** Whether the text is never broken. */
  readonly isOneWord?: boolean;
  readonly isTime?: boolean;
}

function Text({ children, isShort = false, isOneWord = false, isTime = false }: TextProps) {
  const isId = /^[\da-f]{24}$/.test(children);
  const width = `${Math.min(children.length, WIDTH)}ch`;
  const sx = isOneWord
    ? { whiteSpace: "nowrap", fontVariantNumeric: "tabular-nums", ...isTime && DAY }
    : {
      overflowWrap: "anywhere",
      whiteSpace: "pre-line",
      ...isShort && CUT,
      ...isId ? ID : { [IN_CELL]: { display: "block", ...isShort && CUT, minWidth: width } },
    };
  const title = isId || isShort && children.length > 60 ? children : undefined;
  return (
    <Typography component="span" variant="body2" sx={sx} title={title}>
      {isTime ? children.replaceAll(/(?<!,) /g, "\u00a0") : children}
    </Typography>
  );
}

interface ListProps {
  readonly values: readonly unknown[];
  readonly items: Value;
  readonly isShort: boolean;
}

const MAX_SHORT = 3;

function ShownList({ values, items, isShort }: ListProps) {
  if (values.length === 0) return "–";
  const isPlain = items.type !== "Embedded" && items.type !== "Object" &&
    items.model === undefined && !values.some((each) => typeof each === "object");
  const isFree = items.type === "Object" && items.model === undefined;
  if (isShort && (isFree || items.type === "Embedded")) {
    return <Text isOneWord>{values.length === 1 ? "1 entry" : `${values.length} entries`}</Text>;
  }
  if (items.type === "Embedded" && items.fields !== undefined) {
    return <ShownRows rows={values} fields={items.fields} />;
  }
  const shown = isShort ? values.slice(0, MAX_SHORT) : values;
  return (
    <Stack direction="row" useFlexGap sx={{ flexWrap: "wrap", gap: 0.75, alignItems: "center" }}>
      {shown.map((value, index) =>
        isPlain && items.enum === undefined
          ? <Chip key={index} size="small" label={inWords(value, items)} />
          : <ShownValue key={index} value={value} field={items} isShort={isShort} />
      )}
      {shown.length < values.length && <Text isOneWord>{`+${values.length - shown.length}`}</Text>}
    </Stack>
  );
}

/** A table begins where the heading of its card begins. */
export const FLUSH = {
  "& td:first-of-type, & th:first-of-type": { pl: 0 },
  "& td:last-of-type, & th:last-of-type": { pr: 0 },
};

/** The buttons of a row stay in sight when a wide table is scrolled. */
export const AT_THE_SIDE = {
  "&.MuiTableCell-root": {
    position: { xs: "static", sm: "sticky" },
    right: 0,
    backgroundColor: "background.paper",
    whiteSpace: "nowrap",
  },
};

interface RowsProps {
  readonly rows: readonly unknown[];
  readonly fields: readonly Field[];
}

function ShownRows({ rows, fields }: RowsProps) {
  const columns = fields.filter(({ name }) => name !== "_id" && name !== "__v");
  const alignOf = (field: Field) => isNumber(field) ? "right" : "left";
  return (
    <TableContainer>
      <Table size="small" sx={FLUSH}>
        <TableHead>
          <TableRow>
            {columns.map((field) => (
              <TableCell key={field.name} align={alignOf(field)}>
                {readableName(field.name)}
              </TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {rows.map((row, index) => (
            <TableRow key={index}>
              {columns.map((field) => (
                <TableCell key={field.name} align={alignOf(field)}>
                  <ShownValue value={Object(row)[field.name]} field={field} isShort />
                </TableCell>
              ))}
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  );
}

function summaryOf(value: unknown, fields: readonly Field[]): string {
  const values = value as Readonly<Record<string, unknown>>;
  return fields.flatMap((field) => {
    const each = values[field.name];
    const isSingle = typeof each !== "object" && each !== undefined && each !== "";
    return isSingle && field.name !== "_id" ? [inWords(each, field)] : [];
  }).join(", ") || "–";
}

function ShownObject(
  { value, fields }: { readonly value: unknown; readonly fields: readonly Field[] },
) {
  const shown = fields.filter(({ name }) => name !== "_id" && name !== "__v");
  return (
    <Box component="dl" sx={FACTS}>
      {shown.map((field) => (
        <Fact key={field.name} label={readableName(field.name)}>
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

interface FactsProps {
  readonly entity: Entity;
  readonly fields: readonly Field[];
  /** The model is needed for the names of senders. */
  readonly model?: PageModel;
}

export function Facts({ entity, fields, model }: FactsProps) {
  return (
    <Box component="dl" sx={FACTS}>
      {fields.filter(({ name }) => name !== "_id" && name !== "__v").map((field) => {
        const value = entity[field.name];
        return (
          <Fact key={field.name} label={readableName(field.name)}>
            {model !== undefined && isStamp(value, field.name, model.stamps)
              ? <ActorName path={model.path} id={entity._id} actor={value} />
              : <ShownValue value={value} field={field} />}
          </Fact>
        );
      })}
    </Box>
  );
}

interface ReferenceProps {
  /** The identifier, or the entity itself if the list has it. */
  readonly value: unknown;
  readonly model: PageModel;
  readonly isShort: boolean;
}

function Reference({ value, model, isShort }: ReferenceProps) {
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
  if (one === undefined) return <Text isShort={isShort}>{name}</Text>;
  const type = model.operations.update === undefined ? "show" : "edit";
  return (
    <Link
      to={path({ resource: model.name, type, id })}
      onClick={(event: Event) => event.stopPropagation()}
      sx={isShort ? ONE_LINE : undefined}
    >
      {name}
    </Link>
  );
}
