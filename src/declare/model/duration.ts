/** @internal A time in seconds, minutes, hours or days, such as `"24h"`. */
export type Duration = `${number}${"s" | "m" | "h" | "d"}`;
