import { assertEquals, assertStringIncludes } from "@std/assert";
import process from "node:process";
import { explainCircularImports } from "../../src/host/circular_imports.ts";
import { ROOT } from "../harness/tasks/run_deno.ts";

const MOD = new URL("mod.ts", ROOT).href;

/** Returns the source of a model whose module imports that of another model. */
const FORMS = {
  decorators: (name: string, other: string) => `
    @rest({ route: "/${name}", methods: [all()] })
    export class ${name} extends FrameworkModel {
      @arrayProp({ items: ${other} })
      others;
    }`,
  "define()": (name: string, other: string) => `
    export class ${name} extends FrameworkModel {}
    define(${name}, { fields: { others: { items: ${other} } } });`,
};

for (const [form, source] of Object.entries(FORMS)) {
  Deno.test(`a circular import of models is told with its cure: ${form}`, async () => {
    const folder = await Deno.makeTempDir();
    for (const [name, other] of [["Movie", "Actor"], ["Actor", "Movie"]] as const) {
      const head = `import { all, arrayProp, define, FrameworkModel, rest } from ${
        JSON.stringify(MOD)
      };
        import { ${other} } from "./${other}.ts";`;
      await Deno.writeTextFile(
        `${folder}/${name}.ts`,
        `// @ts-nocheck\n${head}${source(name, other)}`,
      );
    }
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--config=deno.json", `${folder}/Movie.ts`],
      cwd: ROOT,
    }).output();
    await Deno.remove(folder, { recursive: true });
    const [first = ""] = new TextDecoder().decode(stderr).split("\n");
    assertStringIncludes(first, "A circular import is the usual cause of the next error");
    assertStringIncludes(first, "() => Movie");
  });
}

Deno.test("a framework that is evaluated many times watches the process once", () => {
  for (let count = 0; count < 12; count++) explainCircularImports();
  assertEquals(process.listenerCount("uncaughtExceptionMonitor"), 1);
});
