import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import { sandboxSettings } from "./sandbox-settings.ts";
import { settingsFile } from "./settings-file.ts";

test("a tier that fails on this machine is not written, and the answer says what it lacks", async () => {
  const home = await mkdtemp(join(tmpdir(), "sandbox-settings-"));
  const path = join(home, "manyhands.toml");
  const text = '[sandbox]\ntier = "auto"\n';
  await writeFile(path, text);
  const place = { cwd: home, file: path, env: { MANYHANDS_HOME: home } };
  const lacking: typeof createSandbox = async (options) => ({
    ...(await createSandbox({ ...options, mode: "off" })),
    tier: "none",
    description: "none: commands are switched off | bwrap: bwrap is not installed",
  });
  const settings = sandboxSettings(settingsFile(place), await loadConfig(place), lacking);
  expect(await settings.try("bwrap")).toMatchObject({ works: false, tier: "none" });
  await expect(settings.save("bwrap")).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("bwrap is not installed"),
  });
  expect(await readFile(path, "utf8")).toBe(text);
  expect((await settings.view()).restartNeeded).toBe(false);
  await rm(home, { recursive: true });
});

test("a trial confines as the settings say and leaves nothing open; what is saved counts after a restart", async () => {
  const home = await mkdtemp(join(tmpdir(), "sandbox-settings-"));
  const path = join(home, "manyhands.toml");
  await writeFile(path, '[sandbox]\nallow_domains = ["example.org"]\n');
  const place = { cwd: home, file: path, env: { MANYHANDS_HOME: home } };
  const opened: unknown[] = [];
  let closed = 0;
  const open: typeof createSandbox = async ({ mode, folder, network }) => {
    opened.push([mode, folder, network]);
    return { tier: mode, description: "confined", close: async () => void closed++ } as never;
  };
  const settings = sandboxSettings(settingsFile(place), await loadConfig(place), open);
  expect(await settings.try("srt")).toEqual({ works: true, tier: "srt", description: "confined" });
  expect([opened, closed]).toEqual([[["srt", join(home, "workspaces"), { allow: ["example.org"] }]], 1]);
  await settings.save("bwrap");
  expect(await settings.view()).toMatchObject({ tier: { value: "bwrap" }, restartNeeded: true });
  await expect(settings.save("off")).rejects.toMatchObject({ code: "forbidden" });
  await rm(home, { recursive: true });
});
