import { expect, test } from "bun:test";
import { closeAll, openTogether } from "./close-all.ts";

const failing = (message: string) => async () => {
  throw new Error(message);
};

test("every part is closed in turn, whatever fails, and the failure is told at the end", async () => {
  const closed: string[] = [];
  const part = (name: string) => async () => {
    await Bun.sleep(1);
    closed.push(name);
  };
  const thrown = () => {
    throw new Error("at once");
  };
  await closeAll(part("first"), undefined, [part("a"), part("b")], part("last"));
  expect(closed.splice(0)).toEqual(["first", "a", "b", "last"]);
  await expect(closeAll(part("first"), [failing("broken"), part("b")], part("last"))).rejects.toThrow("broken");
  expect(closed.splice(0)).toEqual(["first", "b", "last"]);
  const several = closeAll(thrown, failing("broken"), part("last"));
  await expect(several).rejects.toMatchObject({ errors: [new Error("at once"), new Error("broken")] });
  expect(closed).toEqual(["last"]);
});

test("parts open together; if one cannot, those that could are closed, also one that comes later", async () => {
  const closed: string[] = [];
  const close = (name: string) => void closed.push(name);
  const late = async () => {
    await Bun.sleep(20);
    return "late";
  };
  const all = await openTogether({ late: late(), early: Promise.resolve(1) }, { late: close });
  expect([all, closed]).toEqual([{ late: "late", early: 1 }, []]);
  const some = { broken: failing("no")(), late: late(), odd: Promise.resolve("odd"), open: Promise.resolve("open") };
  const opening = openTogether(some, { broken: close, late: close, odd: failing("not closed"), open: close });
  await expect(opening).rejects.toThrow("no");
  expect(closed.sort()).toEqual(["late", "open"]);
});
