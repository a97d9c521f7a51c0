import ts from "npm:typescript@5.9";

/** Writes a tab for each two spaces at the beginning of a line. Texts over several lines stay. */
export function tabIndents(text: string): string {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest);
  const kept: (readonly [start: number, end: number])[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateLiteralToken(node) || ts.isStringLiteral(node)) {
      const start = node.getStart(source);
      if (text.slice(start, node.end).includes("\n")) kept.push([start, node.end]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return text.replace(/^(?: {2})+/gm, (spaces, at: number) => {
    const isInside = kept.some(([start, end]) => start < at && at < end);
    return isInside ? spaces : "\t".repeat(spaces.length / 2);
  });
}
