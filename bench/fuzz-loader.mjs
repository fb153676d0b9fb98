// Loads TypeScript for fuzz.mjs, each branch of src/ with a counter: registered with node:module, runs on the loader's thread.
// A file's counters and the short words in it are announced to globalThis.banyanCounters when it is first run.
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** What is loaded without counters: kernels and makers of schedules, where inputs decide little and most time would be counting. */
const UNCOUNTED = /\/src\/(?:engine|synthesize|export\/pictures)\//;
const SRC = new URL("../src/", import.meta.url).href;
const OPTIONS = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true };
const { factory } = ts;
const SHORT_CIRCUITS = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);
/** A word that a format or an option may be made of, rather than a sentence. */
const WORD = /^[^\s].{0,22}[^\s]$|^\S$/;

/** Returns a transformer that counts every function, branch, case, operand that may be skipped, and turn of a loop. */
const counting = (name) => (context) => (file) => {
  let count = 0;
  const words = new Set();
  const tick = () =>
    factory.createPostfixIncrement(
      factory.createElementAccessExpression(factory.createIdentifier("banyanCounters$"), count++),
    );
  const ticked = (expression) =>
    factory.createParenthesizedExpression(
      factory.createComma(tick(), factory.createParenthesizedExpression(expression)),
    );
  const tickStatement = () => factory.createExpressionStatement(tick());
  const block = (statement) =>
    ts.isBlock(statement)
      ? factory.updateBlock(statement, [tickStatement(), ...statement.statements])
      : factory.createBlock([tickStatement(), statement], true);

  const visit = (given) => {
    if (ts.isTypeNode(given) || ts.isImportDeclaration(given) || ts.isTypeAliasDeclaration(given)) return given;
    if (ts.isInterfaceDeclaration(given) || (ts.isExportDeclaration(given) && given.moduleSpecifier)) return given;
    if (ts.isStringLiteralLike(given) && WORD.test(given.text)) words.add(given.text);
    const node = ts.visitEachChild(given, visit, context);
    if (ts.isIfStatement(node)) {
      const otherwise =
        node.elseStatement === undefined ? factory.createBlock([tickStatement()]) : block(node.elseStatement);
      return factory.updateIfStatement(node, node.expression, block(node.thenStatement), otherwise);
    }
    if (ts.isForStatement(node))
      return factory.updateForStatement(
        node,
        node.initializer,
        node.condition,
        node.incrementor,
        block(node.statement),
      );
    if (ts.isForOfStatement(node))
      return factory.updateForOfStatement(
        node,
        node.awaitModifier,
        node.initializer,
        node.expression,
        block(node.statement),
      );
    if (ts.isWhileStatement(node)) return factory.updateWhileStatement(node, node.expression, block(node.statement));
    if (ts.isCaseClause(node))
      return factory.updateCaseClause(node, node.expression, [tickStatement(), ...node.statements]);
    if (ts.isDefaultClause(node)) return factory.updateDefaultClause(node, [tickStatement(), ...node.statements]);
    if (ts.isConditionalExpression(node))
      return factory.createConditionalExpression(
        node.condition,
        undefined,
        ticked(node.whenTrue),
        undefined,
        ticked(node.whenFalse),
      );
    if (ts.isBinaryExpression(node) && SHORT_CIRCUITS.has(node.operatorToken.kind))
      return factory.createBinaryExpression(node.left, node.operatorToken, ticked(node.right));
    if (ts.isArrowFunction(node)) {
      const body = ts.isBlock(node.body) ? block(node.body) : ticked(node.body);
      return factory.updateArrowFunction(
        node,
        node.modifiers,
        node.typeParameters,
        node.parameters,
        node.type,
        node.equalsGreaterThanToken,
        body,
      );
    }
    if ((ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node)) && node.body) {
      const update = ts.isFunctionDeclaration(node)
        ? factory.updateFunctionDeclaration
        : factory.updateFunctionExpression;
      return update.call(
        factory,
        node,
        node.modifiers,
        node.asteriskToken,
        node.name,
        node.typeParameters,
        node.parameters,
        node.type,
        block(node.body),
      );
    }
    if (ts.isMethodDeclaration(node) && node.body)
      return factory.updateMethodDeclaration(
        node,
        node.modifiers,
        node.asteriskToken,
        node.name,
        node.questionToken,
        node.typeParameters,
        node.parameters,
        node.type,
        block(node.body),
      );
    if (ts.isCatchClause(node)) return factory.updateCatchClause(node, node.variableDeclaration, block(node.block));
    return node;
  };
  const statements = file.statements.map((statement) => ts.visitNode(statement, visit));
  const text = (value) => factory.createStringLiteral(value);
  const announce = factory.createCallExpression(
    factory.createPropertyAccessExpression(factory.createIdentifier("globalThis"), "banyanCounters"),
    undefined,
    [text(name), factory.createNumericLiteral(count), factory.createArrayLiteralExpression([...words].map(text))],
  );
  const counters = factory.createVariableStatement(
    undefined,
    factory.createVariableDeclarationList(
      [factory.createVariableDeclaration("banyanCounters$", undefined, undefined, announce)],
      ts.NodeFlags.Const,
    ),
  );
  return factory.updateSourceFile(file, [counters, ...statements]);
};

/** What was made of a file of this text is kept for the next run. */
const CACHE = new URL("../node_modules/.cache/banyan-fuzz/", import.meta.url);
const OWN = await readFile(new URL(import.meta.url));
await mkdir(CACHE, { recursive: true });

/** Node's hook: TypeScript is stripped of its types, and src/ gets counters. */
export async function load(url, context, next) {
  if (!/\.tsx?$/.test(url)) return next(url, context);
  const text = await readFile(fileURLToPath(url), "utf8");
  const kept = new URL(`${createHash("sha256").update(OWN).update(url).update(text).digest("hex")}.js`, CACHE);
  const source = await readFile(kept, "utf8").catch(async () => {
    const counts = url.startsWith(SRC) && !UNCOUNTED.test(url);
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: OPTIONS,
      fileName: fileURLToPath(url),
      transformers: { before: counts ? [counting(url.slice(SRC.length))] : [] },
    });
    await writeFile(kept, outputText);
    return outputText;
  });
  return { format: "module", shortCircuit: true, source };
}
