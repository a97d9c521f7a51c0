const FILE_LINES = 400;

const FUNCTION_LINES = 60;

const TEST_LINES = 30;

type Declared =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

const plugin: Deno.lint.Plugin = {
  name: "mongrove",
  rules: {
    "short-file": { create: (context) => ({ Program: () => checkFile(context) }) },
    "short-function": {
      create: (context) => ({
        FunctionDeclaration: (node) => checkFunction(context, node),
        FunctionExpression: (node) => checkFunction(context, node),
        ArrowFunctionExpression: (node) => checkFunction(context, node),
      }),
    },
    "plain-comments": { create: (context) => ({ Program: () => checkComments(context) }) },
    "flat-literal": {
      create: (context) => ({
        "ObjectExpression > SpreadElement > ObjectExpression": (
          node: Deno.lint.ObjectExpression,
        ) => checkLiteral(context, node),
      }),
    },
    "literal-import": {
      create: (context) => ({ ImportExpression: (node) => checkImport(context, node) }),
    },
    "positional-arguments": {
      create: (context) => ({
        FunctionDeclaration: (node) => checkArguments(context, node),
        // The class above decides about the parameters of an overriding method.
        "MethodDefinition[override=false] > FunctionExpression": (
          node: Deno.lint.FunctionExpression,
        ) => checkArguments(context, node),
      }),
    },
  },
};

export default plugin;

function checkFile(context: Deno.lint.RuleContext): void {
  const lines = context.sourceCode.text.split("\n").length - 1;
  if (!isSource(context) || lines <= FILE_LINES) return;
  context.report({ range: [0, 1], message: `${lines} lines, at most ${FILE_LINES} are allowed` });
}

function checkFunction(context: Deno.lint.RuleContext, node: Declared): void {
  const lines = context.sourceCode.getText(node).split("\n").length;
  const most = isTest(context, node) ? TEST_LINES : FUNCTION_LINES;
  if (!isSource(context) && !isOfTests(context) || lines <= most) return;
  context.report({ node, message: `${lines} lines, at most ${most} are allowed` });
}

/** Whether a function is what `test()`, `longTest()` or `Deno.test()` runs. */
function isTest(context: Deno.lint.RuleContext, { parent, range }: Declared): boolean {
  if (!isOfTests(context) || parent.type !== "CallExpression") return false;
  const called = context.sourceCode.getText(parent.callee);
  return parent.arguments.some((each) => each.range[0] === range[0]) &&
    /^((Deno\.)?test|longTest)(\.\w+)?$/.test(called);
}

/**
 * Deno installs packages of literals before the first test. While test files run side by side, it does so unreliably.
 */
function checkImport(context: Deno.lint.RuleContext, node: Deno.lint.ImportExpression): void {
  if (!isOfTests(context) || node.source.type === "Literal") return;
  context.report({
    node,
    message: "A test imports by a literal, so that Deno installs it in time",
  });
}

/** Phrases that hide the subject of a sentence, and better words. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/^(What|Who|One|Those|That)\b/, "begin with a noun or with a verb in the third person"],
  [/^(Gives|Tells)\b/, 'write "Returns", "Throws" or "Whether"'],
  [/\b[Ww]hat\b/, "name the noun"],
  [/\b[Tt]hose (that|which|who|of|in)\b/, "name the noun"],
  [/\b([Oo]ne|[Aa]ll) that\b/, "name the noun"],
  [/\bof (its|their|his|her|our) own\b/, "say whose, or leave it out"],
  [/\bas (it is|they are)\b/, "say what is not changed"],
];

/** Engineers whose first language is not English read these comments. */
function checkComments(context: Deno.lint.RuleContext): void {
  if (!isSource(context) || isOfTests(context)) return;
  for (const comment of context.sourceCode.getAllComments()) {
    const text = comment.value.replace(/^\s*\*?\s?/gm, "").split("\n@example", 1).join("").trim();
    const [phrase, advice] = PHRASES.find(([each]) => each.test(text)) ?? [];
    if (phrase === undefined) continue;
    const [found] = phrase.exec(text) ?? [];
    context.report({ range: comment.range, message: `"${found}" in a comment: ${advice}` });
  }
}

function checkLiteral(context: Deno.lint.RuleContext, node: Deno.lint.ObjectExpression): void {
  if (!isSource(context)) return;
  context.report({ node, message: "A literal is spread into a literal: write its properties" });
}

function isOfTests({ filename }: Deno.lint.RuleContext): boolean {
  return /[\\/]tests[\\/]|_test\.ts$/.test(filename);
}

/** A third argument holds options, or all the rest. */
function checkArguments(context: Deno.lint.RuleContext, node: Declared): void {
  const [third, ...more] = node.params.filter((param) =>
    param.type !== "Identifier" || param.name !== "this"
  ).slice(2);
  if (!isSource(context) || third === undefined) return;
  const isOptions = third.type !== "Identifier" || third.name === "options";
  if (isOptions && more.length === 0) return;
  context.report({ node, message: "At most two positional arguments, then options" });
}

function isSource({ filename }: Deno.lint.RuleContext): boolean {
  return /[\\/]src[\\/](?!.*_test\.ts$)|[\\/]mod\.ts$/.test(filename);
}
