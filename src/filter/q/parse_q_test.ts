import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { prop } from "../../declare/decorators/prop.ts";
import { RestError } from "../../errors/rest_error.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { parseQ } from "./compile_filter.ts";

class Parsed extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  year?: number;
}

const shape = describeShape(buildSchema(Parsed).schema);
const parse = (url: string) => parseQ(url, { shape, limits: DEFAULT_LIMITS });

Deno.test("parseQ() gives the filter when the URL has one q", async (t) => {
  const cases: [string, object][] = [
    ["/movies", {}],
    ["/movies?", {}],
    ["/movies?page=2", {}],
    ["/movies?queue=%ff", {}],
    ["/movies?Q=broken", {}],
    ["/movies?q={}", {}],
    ['/movies?q={"name":"A"}', { name: { $eq: "A" } }],
    ["/movies?page=2&q=%7B%22year%22%3A%221999%22%7D&size=3", { year: { $eq: 1999 } }],
    ["/movies?%71=%7B%22name%22%3A%22A%22%7D", { name: { $eq: "A" } }],
    ['/movies?q={"name":"A+B%2BC%20D"}', { name: { $eq: "A B+C D" } }],
    ['/movies?q={"name":"%C3%A9?%26=%23"}', { name: { $eq: "é?&=#" } }],
    ['http://host/movies?q={"name":"A"}', { name: { $eq: "A" } }],
    ['/movies??q={"name":"A"}', { name: { $eq: "A" } }],
  ];
  for (const [url, expected] of cases) {
    await t.step(url, () => assertEquals(parse(url), expected));
  }
});

const MALFORMED: readonly (readonly [url: string, message: string])[] = [
  ["/movies?q", "not JSON"],
  ["/movies?q=", "not JSON"],
  ["/movies?q=%20", "not JSON"],
  ["/movies?q=x", "not JSON"],
  ["/movies?q={name:1}", "not JSON"],
  ["/movies?q=%", "percent-encoded"],
  ["/movies?q={}{}", "not JSON"],
  ["/movies?q=null", "JSON object"],
  ["/movies?q=true", "JSON object"],
  ["/movies?q=1", "JSON object"],
  ['/movies?q="{}"', "JSON object"],
  ["/movies?q=[]", "JSON object"],
  ["/movies?q=[{}]", "JSON object"],
  ["/movies?q={}&q={}", "more than once"],
  ['/movies?q={}&x=1&%71={"name":"A"}', "more than once"],
  ["/movies?q&q={}", "more than once"],
  ["/movies?q[name]=A", '"q[name]"'],
  ["/movies?q[]={}", '"q[]"'],
  ["/movies?q%5Bname%5D=A", '"q[name]"'],
  ["/movies?%71%5b$where]=1", '"q[$where]"'],
  ["/movies?q[", '"q["'],
  ["/movies?[q]=A", '"[q]"'],
  ["/movies?q={}&q[name]=A", '"q[name]"'],
  ['/movies?q={"name":"%ff"}', "percent-encoded"],
  ['/movies?q={"name":"%zz"}', "percent-encoded"],
  ['/movies?q={"name":"%C3"}', "percent-encoded"],
  ["/movies??q=x", "not JSON"],
];

Deno.test("parseQ() answers 400 and says what is wrong when q is malformed", async (t) => {
  for (const [url, message] of MALFORMED) {
    await t.step(url, () => {
      const error = assertThrows(() => parse(url), RestError);
      assertEquals(error.status, 400);
      assertEquals((error.body as { code: string }).code, "BAD_FORMAT");
      assertStringIncludes(error.message, message);
    });
  }
});
