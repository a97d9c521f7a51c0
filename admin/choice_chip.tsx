/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Chip, type Theme } from "@mui/material";
import { choiceWords } from "./format.ts";

/** Words that most readers connect with a colour, and its hue. */
const MEANINGS: readonly (readonly [RegExp, number])[] = [
  [/^(done|paid|active|approved|accepted|completed?|confirmed|published|resolved|yes|ok)$/i, 140],
  [/^(cancell?ed|failed|overdue|rejected|refused|blocked|urgent|critical|error|no)$/i, 5],
  [/^(pending|waiting|on[ _-]?hold|warning|high|late|unpaid|draft)$/i, 38],
];
const HUES = [210, 265, 180, 325, 75, 240, 20, 160];

/** The colour of a value is the same wherever the value is shown. */
export function ChoiceChip({ value, allowed }: {
  readonly value: unknown;
  readonly allowed: readonly unknown[];
}) {
  const meaning = MEANINGS.find(([words]) => words.test(String(value)))?.[1];
  const place = allowed.indexOf(value);
  const hue = meaning ?? HUES[place % HUES.length];
  return (
    <Chip
      component="span"
      size="small"
      label={choiceWords(value)}
      sx={({ palette: { mode } }: Theme) => ({
        fontWeight: 500,
        verticalAlign: "middle",
        ...hue !== undefined && {
          color: mode === "dark" ? `hsl(${hue} 65% 84%)` : `hsl(${hue} 75% 22%)`,
          backgroundColor: mode === "dark" ? `hsl(${hue} 32% 23%)` : `hsl(${hue} 65% 91%)`,
        },
      })}
    />
  );
}
