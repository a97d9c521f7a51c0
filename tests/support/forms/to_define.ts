import ts from "npm:typescript@5.9";

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const FIELD_DECORATORS = new Set(["prop", "arrayProp"]);

/**
 * Rewrites models with decorators to `define()`. Classes with other decorators, with a base that is no name, or with a
 * declaration that `define()` cannot express, stay.
 */
export function toDefine(text: string): { readonly text: string; readonly count: number } {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest, true);
  const specifier = /\bdefine\(/.test(text) ? undefined : specifierOf(source);
  const found = classesIn(source);
  const bases = new Set(found.map((each) => baseOf(each)?.getText() ?? ""));
  const rewritten = found.map((each) => rewrite(each, bases)).filter((edits) => edits.length > 0);
  if (specifier === undefined || rewritten.length === 0) return { text, count: 0 };
  const edits = rewritten.flat().toSorted((a, b) => b.start - a.start);
  const changed = edits.reduce(
    (before, { start, end, text }) => before.slice(0, start) + text + before.slice(end),
    text,
  );
  return {
    text: `import { define as $define } from ${specifier};\n${changed}`,
    count: rewritten.length,
  };
}

/** As the import names it. */
function specifierOf(source: ts.SourceFile): string | undefined {
  return source.statements.filter(ts.isImportDeclaration).find((each) =>
    /\b(prop|rest|FrameworkModel)\b/.test(each.importClause?.getText() ?? "") &&
    /mod\.ts"|"@mongrove\/mongrove"/.test(each.moduleSpecifier.getText())
  )?.moduleSpecifier.getText();
}

function classesIn(node: ts.Node): ts.ClassDeclaration[] {
  const found: ts.ClassDeclaration[] = [];
  const visit = (each: ts.Node): void => {
    if (ts.isClassDeclaration(each) && each.name !== undefined) found.push(each);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

function baseOf({ heritageClauses }: ts.ClassDeclaration): ts.Expression | undefined {
  const clause = heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword);
  return clause?.types[0]?.expression;
}

function rewrite(target: ts.ClassDeclaration, bases: ReadonlySet<string>): Edit[] {
  const base = baseOf(target);
  const isExported = target.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
  if (base === undefined || !ts.isIdentifier(base) || target.typeParameters || isExported) {
    return [];
  }
  const decorators = decoratorsOf(target);
  const entries = target.members.map(entryOf);
  const rests = decorators.map((each) => optionsOf(each, ["rest"]));
  if (rests.includes(undefined) || entries.some((each) => each === undefined)) return [];
  const fields = entries.filter((each) => each !== "");
  const isModel = decorators.length + fields.length > 0;
  if (!isModel && !(bases.has(String(target.name?.text)) && isDeclared(base))) return [];
  const parts = [
    ...isDeclared(base) ? [`extends: ${base.text}`] : [],
    `fields: { ${fields.join(", ")} }`,
    ...rests.length > 0 ? [`rest: [${rests.join(", ")}]`] : [],
  ];
  const removed = [...decorators, ...target.members.flatMap(decoratorsOf)];
  return [
    ...removed.map((each) => ({ start: each.getStart(), end: each.getEnd(), text: "" })),
    {
      start: target.getEnd(),
      end: target.getEnd(),
      text: `\n$define(${target.name?.text}, { ${parts.join(", ")} });`,
    },
  ];
}

/** Imported bases have a declaration, and so does a class below a declared class. */
function isDeclared(base: ts.Identifier): boolean {
  if (base.text === "FrameworkModel") return false;
  const target = find(base.text, base);
  if (target === undefined) return true;
  if (decoratorsOf(target).length + target.members.flatMap(decoratorsOf).length > 0) return true;
  const next = baseOf(target);
  return next !== undefined && (!ts.isIdentifier(next) || isDeclared(next));
}

function find(name: string, { parent }: ts.Node): ts.ClassDeclaration | undefined {
  if (parent === undefined) return undefined;
  const { statements = [] } = parent as { statements?: readonly ts.Statement[] };
  return [...statements].find((each): each is ts.ClassDeclaration =>
    ts.isClassDeclaration(each) && each.name?.text === name
  ) ?? find(name, parent);
}

function decoratorsOf(node: ts.Node): ts.Decorator[] {
  return ts.canHaveDecorators(node) ? [...ts.getDecorators(node) ?? []] : [];
}

/** An empty string for a member without decorators, `undefined` if `define()` cannot express it. */
function entryOf(member: ts.ClassElement): string | undefined {
  const decorators = decoratorsOf(member);
  if (decorators.length === 0) return "";
  if (!ts.isPropertyDeclaration(member) || !ts.isIdentifier(member.name)) return undefined;
  if (member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword)) return undefined;
  const field = decorators.filter((each) => FIELD_DECORATORS.has(nameOf(each)));
  const rests = decorators.filter((each) => !field.includes(each))
    .map((each) => optionsOf(each, ["rest"]));
  const [only, ...more] = field;
  const options = only && optionsOf(only, [...FIELD_DECORATORS]);
  if (only === undefined || options === undefined || more.length > 0 || rests.includes(undefined)) {
    return undefined;
  }
  // An entry is an array if it has items. Only a mistake says otherwise.
  const isArray = nameOf(only) === "arrayProp";
  if (/^\{/.test(options) && /\bitems\b/.test(options) !== isArray) return undefined;
  const inner = /^\{([^]*?),?\s*\}$/.exec(options)?.[1] ?? `...(${options})`;
  const parts = [inner.trim(), rests.length > 0 ? `rest: [${rests.join(", ")}]` : ""];
  return `${member.name.getText()}: { ${parts.filter(Boolean).join(", ")} }`;
}

function nameOf({ expression }: ts.Decorator): string {
  return ts.isCallExpression(expression) ? expression.expression.getText() : "";
}

/** `undefined` for other decorators. */
function optionsOf(decorator: ts.Decorator, names: readonly string[]): string | undefined {
  const { expression } = decorator;
  if (!ts.isCallExpression(expression) || !names.includes(nameOf(decorator))) return undefined;
  return expression.arguments[0]?.getText() ?? "{}";
}
