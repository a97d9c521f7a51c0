export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

interface TestCase {
  readonly name: string;
  readonly failure: string | undefined;
  readonly isSkipped: boolean;
}

function listCases(xml: string): TestCase[] {
  const cases = xml.matchAll(/<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs);
  return [...cases].map(([, attributes = "", content = ""]) => {
    const file = /\bclassname="([^"]*)"/.exec(attributes)?.[1];
    const name = /\bname="([^"]*)"/.exec(attributes)?.[1];
    return {
      name: `${file} ${name}`,
      failure: /<failure message="([^"]*)"/.exec(content)?.[1],
      isSkipped: content.includes("<skipped"),
    };
  });
}

/**
 * Counts the leaves: a test with steps counts by its steps, and once more if it failed itself.
 *
 * @param again The report of failed files that ran once more.
 */
export function countTests(xml: string, again = ""): TestCounts {
  const passed = new Set(
    listCases(again).filter(({ failure }) => failure === undefined).map(({ name }) => name),
  );
  const cases = listCases(xml).filter(({ isSkipped }) => !isSkipped)
    .map((each) => passed.has(each.name) ? { ...each, failure: undefined } : each);
  const names = cases.map(({ name }) => name);
  const leaves = cases.filter(({ name, failure }) => {
    const isParent = names.some((other) => other.startsWith(`${name} &gt; `));
    const isOwnFailure = failure !== undefined &&
      !/^\d+ test steps? failed$/.test(failure);
    return !isParent || isOwnFailure;
  });
  const failed = leaves.filter(({ failure }) => failure !== undefined).length;
  return { passed: leaves.length - failed, failed };
}

if (import.meta.main) {
  const [xml = "", again = ""] = await Promise.all(
    Deno.args.map((path) => Deno.readTextFile(path)),
  );
  const { passed, failed } = countTests(xml, again);
  console.log(`${passed} passed, ${failed} failed`);
}
