import ts from "npm:typescript@5.9";

/** Deno, the compiler or a bundler reads these comments. */
const READ = /@ts-|deno-|@__PURE__/;

const INTERNAL = "/** @internal */";

/**
 * Every line keeps its number, so that stack traces name lines of the repository. In a documented module, JSR shows the
 * comments of declarations without `@internal`.
 */
export function dropComments(
  text: string,
  { isDocumented = false }: { readonly isDocumented?: boolean } = {},
): string {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest);
  const ends = new Map<number, number>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    children.forEach(visit);
    if (children.length > 0) return;
    const comments = [
      ...ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [],
      ...ts.getTrailingCommentRanges(text, node.end) ?? [],
    ];
    for (const { pos, end } of comments) ends.set(pos, end);
  };
  visit(source);
  let kept = "";
  let at = 0;
  for (const [pos, end] of [...ends].sort(([a], [b]) => a - b)) {
    const comment = text.slice(pos, end);
    const isInternal = comment.includes("@internal");
    const isShown = isDocumented && comment.startsWith("/**") && !isInternal;
    if (READ.test(comment) || isShown) continue;
    const before = text.slice(at, pos);
    const endsLine = /^[ \t]*(\n|$)/.test(text.slice(end, text.indexOf("\n", end) + 1));
    kept += endsLine && !isInternal ? before.replace(/[ \t]+$/, "") : before;
    if (isDocumented && isInternal) kept += INTERNAL;
    kept += comment.replace(/[^\n]/g, "");
    at = end;
  }
  return kept + text.slice(at);
}
