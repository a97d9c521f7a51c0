export function cannotServe(problem: string): TypeError {
  return new TypeError(`Cannot serve the admin page: ${problem}`);
}
