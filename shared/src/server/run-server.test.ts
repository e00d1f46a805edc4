import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment } from "../testing/bare-environment.ts";
import { publicUrlOf } from "./run-server.ts";

const settings = { port: 4100, publicUrl: "https://team.example" };

test("a server's public address is the one it was given, else the one in the settings for its port, else where it listens", () => {
  const at = (port: number, told?: string) => publicUrlOf(new URL(`http://0.0.0.0:${port}`), told, settings);
  expect(at(4100, "https://told.example")).toBe("https://told.example");
  expect(at(4100)).toBe("https://team.example");
  expect(at(5000)).toBe("http://127.0.0.1:5000");
  expect(publicUrlOf(new URL("http://[::]:4100"), undefined, { port: 4100, publicUrl: undefined })).toBe(
    "http://[::1]:4100",
  );
});

const folder = await mkdtemp(join(tmpdir(), "manyhands-run-server-"));
afterAll(() => rm(folder, { recursive: true }));

/** A server as a process of its own, whose start is this code. */
async function ended(start: string, env: Record<string, string>, ...args: string[]) {
  const entry = join(folder, `${crypto.randomUUID()}.ts`);
  const [room, errors] = ["run-server.ts", "../core/errors.ts"].map((file) =>
    JSON.stringify(join(import.meta.dir, file)),
  );
  await writeFile(
    entry,
    `import { runServer } from ${room};\nimport { AppError } from ${errors};\nawait runServer("tester", async (config) => { ${start} });`,
  );
  const child = Bun.spawn([process.execPath, entry, ...args], {
    cwd: folder,
    env: { ...bareEnvironment(), ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  return { said: await new Response(child.stderr).text(), code: await child.exited };
}

test("a server with wrong settings exits with code 2, one that cannot start for another reason with 1, and says why", async () => {
  const wrong = await ended("", { MANYHANDS_LIMITS_STEPS: "many" });
  expect(wrong).toMatchObject({ code: 2, said: expect.stringMatching(/^tester: MANYHANDS_LIMITS_STEPS: /) });
  const option = await ended("", {}, "--port", "1");
  expect(option).toMatchObject({ code: 2, said: expect.stringContaining("The one option is --config FILE.") });
  const home = await ended("", { MANYHANDS_HOME: "/dev/null/home" });
  expect(home).toMatchObject({ code: 2, said: expect.stringContaining("MANYHANDS_HOME cannot be /dev/null/home") });
  const away = await ended('throw new AppError("unavailable", "Nobody is there.");', {});
  expect(away).toEqual({ code: 1, said: "tester: Nobody is there.\n" });
  const bug = await ended('throw new Error("a slip");', {});
  expect(bug.code).toBe(1);
  expect(bug.said).toContain("a slip");
  expect(await ended("process.exit(0)", {})).toEqual({ code: 0, said: "" });
});
