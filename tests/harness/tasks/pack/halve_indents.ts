import ts from "npm:typescript@5.9";

/** Indents by one space instead of two. Lines inside of template literals stay, because they are values. */
export function halveIndents(text: string): string {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest);
  let halved = "";
  let at = 0;
  const visit = (node: ts.Node): void => {
    node.forEachChild(visit);
    const isText = ts.isTemplateLiteralToken(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (!isText) return;
    const start = node.getStart(source);
    halved += halve(text.slice(at, start)) + text.slice(start, node.end);
    at = node.end;
  };
  visit(source);
  return halved + halve(text.slice(at));
}

function halve(code: string): string {
  return code.replace(/(?<=\n)(?: {2})+/g, (spaces) => " ".repeat(spaces.length / 2));
}
