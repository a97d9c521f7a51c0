import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { chooseMongoose } from "./choose_mongoose.ts";
import { chooseStd } from "./choose_std.ts";
import { parseLcov, reportCoverage } from "./coverage.ts";
import { followTests } from "./follow_tests.ts";
import { FollowedRuns } from "./followed_runs.ts";
import { groupTests } from "./group_tests.ts";
import { countTests } from "./junit.ts";
import { checkRooms, circlesIn, wrongImports, wrongWrites } from "./rooms.ts";

const yes = () => Promise.resolve(true);
const no = () => Promise.resolve(false);

Deno.test("chooseStd() takes the real packages if cached or in reach", async () => {
  assertEquals(await chooseStd({ isCached: yes, isReachable: no }), {});
  assertEquals(await chooseStd({ isCached: no, isReachable: yes }), {});
});

Deno.test("chooseStd() lays out the stand-ins as a registry otherwise", async () => {
  const { JSR_URL } = await chooseStd({ isCached: no, isReachable: no });
  assert(JSR_URL);
  const { versions } = JSON.parse(
    await Deno.readTextFile(new URL("@std/assert/meta.json", JSR_URL)),
  );
  assertEquals(Object.keys(versions), ["1.0.0"]);
});

Deno.test("chooseMongoose() takes the version out of the arguments", async () => {
  const { args, flags } = await chooseMongoose(["--doc", "--mongoose=9.11.0", "src"]);
  assertEquals(args, ["--doc", "src"]);
  assertEquals(flags.length, 1);
  assertStringIncludes(decodeURIComponent(flags[0] ?? ""), '"mongoose":"npm:mongoose@9.11.0"');
  assertEquals(await chooseMongoose(["src"]), { args: ["src"], flags: [] });
});

Deno.test("chooseMongoose() knows the oldest version that the package allows", async () => {
  const { flags: [flag = ""] } = await chooseMongoose(["--mongoose=oldest"]);
  const { imports: { mongoose } } = JSON.parse(await Deno.readTextFile("deno.json"));
  assertStringIncludes(decodeURIComponent(flag), `"mongoose":"${mongoose.replace("^", "")}"`);
});

Deno.test("groupTests() deals files into groups, but for those that run alone", () => {
  const plain = Array.from({ length: 25 }, (_, index) => ({ path: `${index}`, text: "" }));
  const files = [
    { path: "a", text: 'import "x";\n// Runs alone: it changes Mongoose.\n' },
    ...plain,
    { path: "z", text: 'longTest("takes long", () => {});' },
  ];
  const groups = [0, 1].map((index) => plain.filter((_, at) => at % 2 === index))
    .map((each) => each.map(({ path }) => path));
  assertEquals(groupTests(files, true), { alone: ["a"], long: [["z"]], groups });
  const { alone, long } = groupTests(files, false);
  assertEquals({ alone, long }, { alone: ["a"], long: [] });
});

const RESULTS = `../group_01_test.ts => a_test.ts: it works ... ok (5ms)
../group_02_test.ts => b_test.ts: it has steps ... first ... FAILED (2ms)
../group_02_test.ts => b_test.ts: it has steps ... \x1b[0m\x1b[31mFAILED\x1b[0m (due to 1 failed step) (5ms)
./tests/c_test.ts => it is long ... ignored (0ms)
`;

const SUMMARY = `
 ERRORS 

it has steps => ./tests/b_test.ts:1:1
error: AssertionError

FAILED | 1 passed (1 step) | 1 failed (1 step) | 1 ignored (1s)
`;

Deno.test("followTests() tells failures at once, and keeps the summary", async () => {
  const told: string[] = [];
  const output = await followTests(
    ReadableStream.from([new TextEncoder().encode(RESULTS + SUMMARY)]),
    { files: 4, tell: (text) => told.push(text), isTerminal: false, isStopped: () => false },
  );
  assertEquals(told.join("").split("\n"), [...RESULTS.split("\n").slice(1, 3), ""]);
  assertEquals(output, SUMMARY.slice(1, -1));
});

Deno.test("followed runs name the files of a few failed tests, of one job or of several", async () => {
  const plain = `running 2 tests from ./tests/c_test.ts
it works ... ok (5ms)
it fails ... FAILED (5ms)
`;
  for (
    const [results, files] of [[RESULTS, ["b_test.ts"]], [plain, ["tests/c_test.ts"]]] as const
  ) {
    const runs = new FollowedRuns();
    const follow = runs.follow(3);
    const output = await follow(
      ReadableStream.from([new TextEncoder().encode(results + SUMMARY)]),
    );
    const all = ["a_test.ts", "b_test.ts", "tests/c_test.ts"];
    assertEquals(runs.fewFailed([{ code: 1, output }], all), files);
    const other = { code: 1, output: "error: Uncaught" };
    assertEquals(runs.fewFailed([{ code: 1, output }, other], all), []);
    assertEquals(output.includes("ok (5ms)"), false);
  }
});

Deno.test("followTests() tells of a stopped run how far it was, and no failures", async () => {
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
  let isStopped = false;
  const told = Promise.withResolvers<string>();
  const output = followTests(readable, {
    files: 4,
    tell: (text) => text.includes("3 of 4") && told.resolve(text),
    isTerminal: true,
    isStopped: () => isStopped,
  });
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode(RESULTS));
  assertStringIncludes(await told.promise, "3 of 4 test files, 1 failed");
  isStopped = true;
  // A stopped process still writes.
  writer.write(new TextEncoder().encode(SUMMARY)).catch(() => {});
  assertEquals(await output, "Stopped after 3 of 4 test files, 1 failed");
});

Deno.test("deno.json has among its imports what the demo needs, which \`deno task\` downloads first", async () => {
  const { imports } = JSON.parse(await Deno.readTextFile("deno.json"));
  assertEquals(Object.keys(imports), [
    "@std/assert",
    "@std/testing",
    "express",
    "express-types",
    "mongodb-memory-server",
    "mongoose",
    "swagger-ui-dist",
  ]);
});

const LCOV = `SF:/repo/src/a.ts
LF:10
LH:10
end_of_record
SF:/repo/src/b.ts
LF:30
LH:24
end_of_record
`;

Deno.test("parseLcov() reads lines and hits of each file", () => {
  assertEquals(parseLcov(LCOV, "/repo/"), [
    { file: "src/a.ts", lines: 10, hit: 10 },
    { file: "src/b.ts", lines: 30, hit: 24 },
  ]);
});

Deno.test("reportCoverage() shows the files below the floor and the total", () => {
  const { table, percent } = reportCoverage(parseLcov(LCOV, "/repo/"), 95);
  assertEquals(percent, 85);
  assert(!table.includes("src/a.ts"));
  assertStringIncludes(table, "80.0 %        24/30  src/b.ts");
  assertStringIncludes(table, "85.0 %        34/40  total");
});

function suite(...cases: string[]): string {
  return `<testsuites><testsuite name="a">${cases.join("\n")}</testsuite>`;
}

function testCase(name: string, content = ""): string {
  return `<testcase name="${name}" classname="a" line="1">${content}</testcase>`;
}

Deno.test("countTests() takes a failure back that passes when its file runs again", () => {
  const failure = '<failure message="AssertionError">at a</failure>';
  const first = suite(testCase("a_test.ts: x", failure), testCase("a_test.ts: y", failure));
  assertEquals(countTests(first), { passed: 0, failed: 2 });
  assertEquals(countTests(first, suite(testCase("a_test.ts: x"))), { passed: 1, failed: 1 });
});

Deno.test("wrongWrites() names what writes entities past the store", () => {
  const text = "await model.collection.updateOne(filter, update);";
  const told = 'src/write/x.ts has updateOne(): only "store" writes entities';
  assertEquals(wrongWrites("write/x.ts", text), [told]);
  assertEquals([...wrongWrites("store/x.ts", text), ...wrongWrites("features/x.ts", text)], []);
});

Deno.test("circlesIn() names the files of a circle, but for imports of types", () => {
  const files = new Map([
    ["a/x.ts", 'import {\n  y,\n} from "./y.ts";'],
    ["a/y.ts", 'export { z } from "../z.ts";\nimport type { X } from "./x.ts";'],
    ["z.ts", 'import { w } from "./w.ts";'],
  ]);
  assertEquals(circlesIn(files), []);
  files.set("w.ts", 'import { x } from "./a/x.ts";');
  assertEquals(circlesIn(files), ["a/x.ts → a/y.ts → z.ts → w.ts → a/x.ts"]);
});

Deno.test("wrongImports() names what a room may not import, types included", () => {
  const text = `import { a } from "../http/a.ts";
import type { B } from "../declare/b.ts";
import { c } from "./c.ts";
import { d } from "../errors/d.ts";
import mongoose from "mongoose";`;
  const rule = '"schema" may not import from there';
  assertEquals(wrongImports("schema/x.ts", text), [`src/schema/x.ts imports http/a.ts: ${rule}`]);
  assertEquals(wrongImports("http/routes/x.ts", text), []);
});

Deno.test("checkRooms() finds nothing wrong in src/", async () => {
  assertEquals(await checkRooms(), { code: 0, output: "" });
});

Deno.test("countTests() counts leaves", () => {
  const stepFailed = '<failure message="1 test step failed">text</failure>';
  const failed = '<failure message="Uncaught Error: no">text</failure>';
  const report = suite(
    testCase("plain"),
    testCase("parent", stepFailed),
    testCase("ignored", "<skipped/>"),
    testCase("parent &gt; good"),
    testCase("parent &gt; bad", failed),
    testCase("parent &gt; deep"),
    testCase("parent &gt; deep &gt; leaf"),
  );
  assertEquals(countTests(report), { passed: 3, failed: 1 });
});

Deno.test("countTests() counts a parent that failed by itself", () => {
  const failed = '<failure message="Uncaught Error: own">text</failure>';
  const report = suite(testCase("a", failed), testCase("a &gt; good"));
  assertEquals(countTests(report), { passed: 1, failed: 1 });
});

Deno.test("countTests() counts nothing in an empty report", () => {
  assertEquals(countTests("<testsuites></testsuites>"), {
    passed: 0,
    failed: 0,
  });
});
