import { expect, test } from "bun:test";
import { AppError } from "../core/errors.ts";
import { until } from "../testing/durable/until.ts";
import { authRows } from "./auth-rows.ts";

const token = { name: "ci", principal: "ann", scopes: "", created: "1", expires: null, used: null, is_due: true };

/** What is logged when the time of use cannot be stored. */
async function loggedFor(failure: Error): Promise<readonly unknown[]> {
  const logged: unknown[] = [];
  const asked: string[] = [];
  const query = (async (text: string) => {
    asked.push(text);
    if (text.startsWith("UPDATE")) throw failure;
    return [token];
  }) as Parameters<typeof authRows>[0]["query"];
  const rows = authRows({ query }, { error: (...line: unknown[]) => void logged.push(line) });
  expect((await rows.find("secret"))?.principal).toBe("ann");
  await until(() => asked.length === 2);
  await Bun.sleep(0);
  return logged;
}

test("a caller gets in though the time of use cannot be stored, and only a bug is logged", async () => {
  const bug = new TypeError("a bug");
  expect(await loggedFor(bug)).toEqual([[{ err: bug }, "When a token was used could not be stored."]]);
  expect(await loggedFor(new AppError("unavailable", "The database is away."))).toEqual([]);
});
