import { expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startGateway } from "../../testing/gateway.ts";

type Shown = { readonly hash: string; readonly state: string; readonly files: readonly { readonly path: string }[] };

test("a skill of the home is read whole, approved as it was read and not as it became, and removed", async () => {
  await using gateway = await startGateway();
  const folder = join(gateway.home, "skills", "weekly-figures");
  await mkdir(join(folder, "scripts"), { recursive: true });
  const write = (text: string) =>
    writeFile(join(folder, "SKILL.md"), `---\nname: weekly-figures\ndescription: Sums up a week.\n---\n${text}\n`);
  await write("Run the script.");
  await writeFile(join(folder, "scripts", "sum.py"), "print(1)\n");
  await writeFile(join(folder, "scripts", "raw.bin"), new Uint8Array([0, 255]));
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${gateway.url}/settings/skills${path}`, {
      method,
      headers: { "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
  };
  const stateOf = async () => {
    const { skills } = (await ask("GET", "")).body as { skills: readonly { name: string; state: string }[] };
    expect(skills.some(({ state }) => state === "shipped")).toBe(true);
    return skills.find(({ name }) => name === "weekly-figures")?.state;
  };
  expect(await stateOf()).toBe("new");
  const shown = (await ask("GET", "/weekly-figures")).body as Shown;
  expect(shown).toMatchObject({ source: "home", instructions: "Run the script.", description: "Sums up a week." });
  expect(shown.files.toSorted((one, other) => one.path.localeCompare(other.path))).toEqual([
    { path: "scripts/raw.bin", size: 2 },
    { path: "scripts/sum.py", size: 9, text: "print(1)\n" },
    { path: "SKILL.md", size: expect.any(Number), text: expect.stringContaining("Run the script.") },
  ] as never);
  await write("Run something else.");
  expect((await ask("POST", "/weekly-figures/approve", { hash: shown.hash })).status).toBe(409);
  expect(await stateOf()).toBe("new");
  const { hash } = (await ask("GET", "/weekly-figures")).body as Shown;
  expect((await ask("POST", "/weekly-figures/approve", { hash })).status).toBe(200);
  expect(await stateOf()).toBe("approved");
  await write("And now for something else.");
  expect(await stateOf()).toBe("changed");
  expect((await ask("DELETE", "/weekly-figures")).status).toBe(204);
  expect(await stateOf()).toBeUndefined();
  expect((await ask("GET", "/weekly-figures")).status).toBe(404);
  const { skills } = (await ask("GET", "")).body as { skills: readonly { name: string }[] };
  expect((await ask("DELETE", `/${skills[0]?.name}`)).status).toBe(403);
});
