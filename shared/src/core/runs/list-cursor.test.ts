import { expect, test } from "bun:test";
import { cursorAfter, placeOf } from "./list-cursor.ts";

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("a cursor is the place it was made of, and whatever else somebody sends as one is refused", () => {
  expect(placeOf(cursorAfter({ updatedAt: 7, id: "r" }))).toEqual([7, "r"]);
  const wrong = [
    "",
    "x",
    "%",
    encoded([7]),
    encoded(["7", "r"]),
    encoded([7, 8]),
    encoded([7.5, "r"]),
    encoded({ 0: 7 }),
  ];
  for (const cursor of [...wrong, encoded([7, "r", 1])])
    expect(() => placeOf(cursor)).toThrow(expect.objectContaining({ code: "invalid_input" }));
});
