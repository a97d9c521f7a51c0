/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Button, Dialog, DialogTitle, InputBase, SvgIcon, Typography } from "@mui/material";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from "react";
import { useRedirect } from "react-admin";
import type { PageDocument, PageModel } from "../src/admin/document.ts";
import { addressOf, nameOf, parameterOf, singularOf } from "./fields.ts";
import { ADD, FIND, HOME, KEY } from "./icons.ts";
import { canSearch } from "./list_query.ts";
import { ModelIcon, PathIcon } from "./model_icon.tsx";
import { usePage } from "./page_context.ts";
import { HIDDEN, TIGHT, tint } from "./theme.ts";

/** The maximum number of found entities of one model. */
const MAX_FOUND = 5;
const MIN_LENGTH = 2;
const PAUSE_MS = 250;
const KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘K" : "Ctrl K";

interface Place {
  readonly group: string;
  readonly text: string;
  readonly to: string;
  readonly icon: ReactNode;
}

export function CommandPalette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <>
      <Button
        color="inherit"
        variant="outlined"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
        sx={{
          minWidth: { xs: 40, sm: 200 },
          justifyContent: "flex-start",
          gap: 1,
          color: "text.secondary",
          borderColor: "divider",
          fontWeight: 400,
          px: { xs: 1, sm: 1.25 },
        }}
      >
        <SvgIcon fontSize="small">
          <path d={FIND} />
        </SvgIcon>
        <Box component="span" sx={FIND_TEXT}>Find</Box>
        <Typography aria-hidden component="span" variant="caption" sx={ON_DESKTOP}>
          {KEYS}
        </Typography>
      </Button>
      {isOpen && <PaletteDialog onClose={() => setOpen(false)} />}
    </>
  );
}

const FIND_TEXT = { flex: 1, textAlign: "left", [TIGHT]: HIDDEN } as const;
const ON_DESKTOP = { [TIGHT]: { display: "none" } };

function PaletteDialog({ onClose }: { readonly onClose: () => void }) {
  const { document } = usePage();
  const redirect = useRedirect();
  const id = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { found, isBusy } = useFound(text.trim());
  const places = [...placesOf(document).filter((place) => matches(place, text)), ...found];
  const chosen = Math.min(at, places.length - 1);
  const go = (place: Place | undefined) => {
    if (place === undefined) return;
    onClose();
    redirect(place.to);
  };
  const press = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (event.key === "Enter") go(places[chosen]);
    else if (step === undefined) return;
    else setAt(step(chosen, places.length));
    event.preventDefault();
  };
  const status = isBusy
    ? "Searching"
    : places.length === 0
    ? `Nothing is found for "${text.trim()}"`
    : `${places.length} found`;
  return (
    <Dialog
      open
      onClose={onClose}
      fullWidth
      maxWidth="sm"
      sx={{ "& .MuiDialog-container": { alignItems: "flex-start" } }}
    >
      <DialogTitle sx={HIDDEN}>Find</DialogTitle>
      <Box sx={{ px: 2, py: 1, borderBottom: 1, borderColor: "divider" }}>
        <InputBase
          fullWidth
          autoFocus
          value={text}
          placeholder="Find a page, an entry or something to do"
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={press}
          inputProps={{
            role: "combobox",
            "aria-label": "Find",
            "aria-expanded": places.length > 0,
            "aria-controls": `${id}-list`,
            "aria-autocomplete": "list",
            ...places.length > 0 && { "aria-activedescendant": `${id}-${chosen}` },
          }}
        />
      </Box>
      <PlaceList id={id} places={places} chosen={chosen} onChoose={go} />
      <Typography
        role="status"
        variant="body2"
        sx={places.length === 0 || isBusy ? { px: 2, py: 1.5, color: "text.secondary" } : HIDDEN}
      >
        {status}
      </Typography>
    </Dialog>
  );
}

const STEPS: Readonly<Record<string, (at: number, length: number) => number>> = {
  ArrowDown: (at, length) => length === 0 ? 0 : (at + 1) % length,
  ArrowUp: (at, length) => length === 0 ? 0 : (at + length - 1) % length,
};

interface PlaceListProps {
  readonly id: string;
  readonly places: readonly Place[];
  readonly chosen: number;
  readonly onChoose: (place: Place) => void;
}

function PlaceList({ id, places, chosen, onChoose }: PlaceListProps) {
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const groups = Map.groupBy(places.entries(), ([, { group }]) => group);
  return (
    <Box
      role="listbox"
      id={`${id}-list`}
      aria-label="Found"
      sx={{ maxHeight: "50vh", overflowY: "auto", p: places.length === 0 ? 0 : 1 }}
    >
      {[...groups].map(([group, found]) => (
        <Box key={group} role="group" aria-label={group}>
          <Typography
            variant="overline"
            aria-hidden
            component="div"
            sx={{ px: 1, color: "text.secondary" }}
          >
            {group}
          </Typography>
          {found.map(([index, place]) => (
            <Box
              key={index}
              role="option"
              id={`${id}-${index}`}
              aria-selected={index === chosen}
              onClick={() => onChoose(place)}
              sx={{
                display: "flex",
                alignItems: "center",
                gap: 1.5,
                px: 1,
                minHeight: 40,
                borderRadius: 1,
                cursor: "pointer",
                "&:hover": { bgcolor: "action.hover" },
                ...index === chosen && { bgcolor: tint },
              }}
            >
              {place.icon}
              <Typography noWrap component="span">{place.text}</Typography>
            </Box>
          ))}
        </Box>
      ))}
    </Box>
  );
}

function placesOf({ models, keys }: PageDocument): readonly Place[] {
  const pages = models.map((model) => ({
    group: "Go to",
    text: model.menu,
    to: `/${model.name}`,
    icon: <ModelIcon model={model} />,
  }));
  const news = models.filter(({ operations }) => operations.create).map((model) => ({
    group: "Do",
    text: `New ${singularOf(model)}`,
    to: `/${model.name}/create`,
    icon: <PathIcon path={ADD} />,
  }));
  const home = { group: "Go to", text: "Home", to: "/", icon: <PathIcon path={HOME} /> };
  const ofKeys = { group: "Go to", text: "API keys", to: "/keys", icon: <PathIcon path={KEY} /> };
  return [home, ...pages, ...keys ? [ofKeys] : [], ...news];
}

/** Each typed word must begin a word of the text. */
function matches({ text }: Place, typed: string): boolean {
  const name = ` ${text.toLowerCase()}`;
  return typed.trim().toLowerCase().split(/\s+/).every((word) => name.includes(` ${word}`));
}

/** The search begins when the reader has stopped typing. A list that fails is left out. */
function useFound(text: string): { readonly found: readonly Place[]; readonly isBusy: boolean } {
  const { document, open } = usePage();
  const [result, setResult] = useState<{ readonly text: string; readonly found: Place[] }>();
  const models = document.models.filter(canSearch);
  const isSearched = text.length >= MIN_LENGTH && models.length > 0;
  useEffect(() => {
    if (!isSearched) return;
    const stop = new AbortController();
    const search = async (model: PageModel): Promise<Place[]> => {
      const { all } = model.operations;
      const limit = parameterOf(all, "limit") && { limit: MAX_FOUND };
      const options = { search: text, signal: stop.signal, ...limit };
      const { items } = await open(model.path).all(options);
      return items.slice(0, MAX_FOUND).map((entity) => ({
        group: model.menu,
        text: nameOf(entity, model),
        to: addressOf(model, entity),
        icon: <ModelIcon model={model} />,
      }));
    };
    const timer = setTimeout(async () => {
      const answers = await Promise.allSettled(models.map(search));
      if (stop.signal.aborted) return;
      const found = answers.flatMap((each) => each.status === "fulfilled" ? each.value : []);
      setResult({ text, found });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, isSearched]);
  const isBusy = isSearched && result?.text !== text;
  return { found: isSearched && !isBusy ? result?.found ?? [] : [], isBusy };
}
