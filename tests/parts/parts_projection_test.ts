import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { giving, takeGiven } from "../support/given.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const preFetch = takeGiven;
const preSend = pass;

class Score extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  by?: string;
  @prop({ type: Number })
  stars?: number;
}

class Scene extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Score, embedded: true })
  scores?: Score[];
}

class Cut extends FrameworkModel {
  @rest({ methods: [one({ preFetch }), update({ preFetch })] })
  @prop({ type: Scene })
  first?: Scene;
  @rest({ methods: [all({ preFetch }), one({ preFetch, preSend }), update({ preFetch })] })
  @arrayProp({ items: Scene, embedded: true })
  scenes?: Scene[];
}

@rest({ route: "/films", methods: [one()] })
class Film extends FrameworkModel {
  @rest({ methods: [one()] })
  @arrayProp({ items: Cut, embedded: true })
  cuts?: Cut[];
}

const ids = [0, 1, 2].map(() => new mongoose.Types.ObjectId());
const [film, cut, id] = ids;
const scene = {
  _id: id,
  name: "a",
  tags: ["t", "u", "v"],
  scores: [{ by: "x", stars: 1 }, { by: "y", stars: 2 }, { by: "y", stars: 3 }],
};
const cuts = [{ _id: cut, first: scene, scenes: [scene] }];
const parts = [`/films/${film}/cuts/${cut}/first`, `/films/${film}/cuts/${cut}/scenes/${id}`];

test("one() of a part answers 500 to a projection that parts cannot have, and names its path", async () => {
  const seen: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => {
    seen.push((error as Error).message);
    return new RestError(500, "Seen");
  };
  await using app = await mount([Film], { onError });
  await getModel(Film).collection.insertOne({ _id: film, cuts, __v: 0 } as never);
  for (
    const projection of [
      { "tags.$": 1 },
      { name: 1, tags: { $slice: [-2, 1] } },
      { name: 0, scores: { $elemMatch: { stars: 3 } } },
    ]
  ) {
    for (const path of parts) {
      const replies = [
        await app.get(path, giving({ projection })),
        await app.patch(path, { name: "b" }, giving({ projection })),
      ];
      assertEquals(replies.map(({ status }) => status), [500, 500]);
    }
  }
  const told = ["tags.$", "tags", "scores"].map((path) =>
    `Cannot use the projection: "${path}" would show some elements of an array, which is not possible in an embedded part`
  );
  assertEquals(seen, told.flatMap((each) => Array.from({ length: 4 }, () => each)));
  const { cuts: stored } = await getModel(Film).collection.findOne() as unknown as Film;
  assertEquals(stored?.[0]?.first?.name, "a");
});
