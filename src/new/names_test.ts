import { assertEquals } from "@std/assert";
import { nameModels } from "./names.ts";

/** Collections, and the class, the file and the route of each. */
const CASES = [
  ["movies", "Movie movie /movies"],
  ["user_profiles", "UserProfile user_profile /user_profiles"],
  ["userProfiles", "UserProfile2 user_profile2 /userProfiles"],
  ["Users", "User user /Users"],
  ["users", "User2 user2 /users_2"],
  ["categories", "Category category /categories"],
  ["addresses", "Address address /addresses"],
  ["statuses", "Status status /statuses"],
  ["news", "News news /news"],
  ["people", "Person person /people"],
  ["bus", "Bus bus /bus"],
  ["constructor", "Constructor constructor /constructor"],
  ["cookies", "Cookie cookie /cookies"],
  ["data", "Data data /data"],
  ["maps", "Map2 map2 /maps"],
  ["symbols", "Symbol2 symbol2 /symbols"],
  ["refs", "Ref2 ref2 /refs"],
  ["2024-orders", "Collection2024Order collection2024_order /2024-orders"],
  ["fs.meta data", "FsMetaData fs_meta_data /fs_meta_data"],
  ["--", "Collection collection /--"],
  ["имена", "Имена имена /_"],
  ["docs", "Doc doc /docs_2"],
  ["admin", "Admin admin /admin_2"],
  ["m²", "M m /m_"],
  ["½", "Collection2 collection2 /__2"],
] as const;

Deno.test("nameModels() names a class, a file and a route of each collection", () => {
  const names = nameModels(CASES.map(([name]) => name), new Map());
  const found = [...names].map((
    [collection, { name, file, route }],
  ) => [collection, `${name} ${file} ${route}`]);
  assertEquals<unknown>(found, CASES);
});

Deno.test("nameModels() keeps known names", () => {
  const known = nameModels(["users"], new Map());
  const names = nameModels(["user", "users"], known);
  assertEquals([...names.values()].map(({ name, route }) => [name, route]), [
    ["User2", "/user"],
    ["User", "/users"],
  ]);
});
