/**
 * @internal A time with its unit, such as `"24h"`. The unit is `s`, `m`, `h` or `d`, for seconds, minutes, hours or
 * days.
 */
export type Duration = `${number}${"s" | "m" | "h" | "d"}`;
