/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Button, Card, Link as Anchor, Stack, Typography } from "@mui/material";
import { useEffect, useState } from "react";
import { Link, Title } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { ActionButtons } from "./action_buttons.tsx";
import { addressOf, nameOf, parameterOf, singularOf } from "./fields.ts";
import { groupsOf } from "./layout.tsx";
import { ModelIcon } from "./model_icon.tsx";
import { type Entity, usePage } from "./page_context.ts";
import { tint } from "./theme.ts";
import { useVisible } from "./use_visible.ts";

/** Browsers open six connections to a server, and a live list keeps one of them. */
const MAX_LIVE = 3;
const MAX_RECENT = 8;

export function HomePage() {
  const { document: { models, links = {} } } = usePage();
  const live = new Set(models.filter(isCountedLive).slice(0, MAX_LIVE));
  return (
    <Box
      sx={{ display: "grid", gridTemplateColumns: "minmax(0, 1fr)", gap: 3, pt: 1, maxWidth: 1400 }}
    >
      <Title title="Home" />
      {groupsOf(models).map(([group, own]) => (
        <Box key={group ?? ""} component="section" aria-label={group ?? "Models"}>
          {group !== undefined && (
            <Typography variant="h6" component="h2" sx={{ mb: 1 }}>{group}</Typography>
          )}
          <Box sx={GRID}>
            {own.map((model) => (
              <ModelCard key={model.name} model={model} isLive={live.has(model)} />
            ))}
          </Box>
        </Box>
      ))}
      <Recent models={models} />
      {Object.keys(links).length > 0 && (
        <Box component="section" aria-label="Links">
          <Typography variant="h6" component="h2" sx={{ mb: 1 }}>Links</Typography>
          <Stack direction="row" useFlexGap sx={{ flexWrap: "wrap", gap: 2.5 }}>
            {Object.entries(links).map(([text, href]) => (
              <Anchor key={text} href={href}>{text}</Anchor>
            ))}
          </Stack>
        </Box>
      )}
    </Box>
  );
}

const GRID = {
  display: "grid",
  gap: 2,
  alignItems: "start",
  gridTemplateColumns: "repeat(auto-fill, minmax(min(100%, 270px), 1fr))",
};

function isCounted({ operations: { all } }: PageModel): boolean {
  return all !== undefined && all.preferences.includes("count=exact") &&
    parameterOf(all, "limit") !== undefined;
}

function isCountedLive(model: PageModel): boolean {
  return isCounted(model) && model.operations.all?.isLive === true;
}

interface ModelCardProps {
  readonly model: PageModel;
  readonly isLive: boolean;
}

function ModelCard({ model, isLive }: ModelCardProps) {
  const total = useTotal(model, isLive);
  const { create } = model.operations;
  const hasButtons = create || model.actions.some(({ on }) => on === "all");
  return (
    <Card sx={{ display: "flex", flexDirection: "column" }}>
      <Box sx={{ display: "flex", alignItems: "center", gap: 1.5, p: 2, pb: hasButtons ? 1 : 2 }}>
        <Box sx={ICON}>
          <ModelIcon model={model} />
        </Box>
        <Typography variant="h6" component="h3" noWrap sx={{ flex: 1 }}>
          <Link to={`/${model.name}`} color="inherit" underline="hover">{model.menu}</Link>
        </Typography>
        {total !== undefined && (
          <Typography variant="h5" component="span" className="total" sx={NUMBER}>
            {total.toLocaleString()}
          </Typography>
        )}
      </Box>
      {hasButtons && (
        <Stack direction="row" useFlexGap sx={{ flexWrap: "wrap", gap: 0.5, px: 1, pb: 1 }}>
          {create && (
            <Button size="small" component={Link} to={`/${model.name}/create`}>
              New {singularOf(model)}
            </Button>
          )}
          <ActionButtons model={model} />
        </Stack>
      )}
    </Card>
  );
}

const ICON = {
  display: "grid",
  placeItems: "center",
  width: 36,
  height: 36,
  borderRadius: 1.25,
  color: "primary.main",
  bgcolor: tint,
} as const;

const NUMBER = { fontVariantNumeric: "tabular-nums" };

function useTotal(model: PageModel, isLive: boolean): number | undefined {
  const { open } = usePage();
  const [total, setTotal] = useState<number>();
  const isPaused = !useVisible() && isLive;
  useEffect(() => {
    if (!isCounted(model) || isPaused) return;
    const stop = new AbortController();
    const { signal } = stop;
    const resource = open(model.path);
    const count = async () =>
      setTotal((await resource.all({ limit: 1, count: true, signal })).total);
    const follow = async () => {
      if (!isLive) return await count();
      for await (const _list of resource.live({ signal })) await count();
    };
    // The card of a list that cannot be counted now shows no number.
    follow().catch(() => {});
    return () => stop.abort();
  }, [model, isLive, isPaused]);
  return total;
}

interface Change {
  readonly model: PageModel;
  readonly entity: Entity;
  readonly at: Date;
}

/** The field with the time of the last change, by which the list can be sorted. */
function changeField({ operations: { all } }: PageModel): string | undefined {
  const sorted = parameterOf(all, "sort")?.fields ?? [];
  return ["updatedAt", "createdAt"].find((name) =>
    sorted.includes(name) && all?.answer.some((field) => field.name === name)
  );
}

function Recent({ models }: { readonly models: readonly PageModel[] }) {
  const { open } = usePage();
  const [changes, setChanges] = useState<readonly Change[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const read = async (model: PageModel): Promise<readonly Change[]> => {
      const field = changeField(model);
      if (field === undefined) return [];
      const limit = parameterOf(model.operations.all, "limit") && { limit: MAX_RECENT };
      const options = { sort: [`-${field}`], signal: stop.signal, ...limit };
      const { items } = await open(model.path).all(options);
      return items.slice(0, MAX_RECENT)
        .map((entity) => ({ model, entity, at: new Date(String(entity[field])) }))
        .filter(({ at }) => !Number.isNaN(at.getTime()));
    };
    Promise.allSettled(models.map(read)).then((answers) => {
      if (stop.signal.aborted) return;
      const found = answers.flatMap((each) => each.status === "fulfilled" ? each.value : []);
      found.sort((a, b) => b.at.getTime() - a.at.getTime());
      setChanges(found.slice(0, MAX_RECENT));
    });
    return () => stop.abort();
  }, [models]);
  if (changes.length === 0) return null;
  return (
    <Box component="section" aria-label="Changed last">
      <Typography variant="h6" component="h2" sx={{ mb: 1 }}>Changed last</Typography>
      <Card component="ul" sx={{ m: 0, p: 0, listStyle: "none" }}>
        {changes.map(({ model, entity, at }) => (
          <Box component="li" key={`${model.name}/${entity._id}`} sx={ROW}>
            <ModelIcon model={model} />
            <Typography noWrap sx={{ flex: 1, minWidth: 0 }}>
              <Link to={addressOf(model, entity)} color="inherit" underline="hover">
                {nameOf(entity, model)}
              </Link>
            </Typography>
            <Typography variant="body2" noWrap color="textSecondary" title={at.toLocaleString()}>
              {model.menu} · {agoOf(at)}
            </Typography>
          </Box>
        ))}
      </Card>
    </Box>
  );
}

const ROW = {
  display: "flex",
  alignItems: "center",
  gap: 1.5,
  px: 2,
  py: 1,
  color: "text.primary",
  "& + &": { borderTop: 1, borderColor: "divider" },
};

const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60]] as const;

function agoOf(at: Date): string {
  const seconds = (at.getTime() - Date.now()) / 1000;
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return format.format(Math.round(seconds / size), unit);
}
