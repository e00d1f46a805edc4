import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import * as os from "node:os";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FoundMachine, openMachineMemory } from "./remembered-machine.ts";

const { XDG_CACHE_HOME } = process.env;
let folder: string;
let found: FoundMachine;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-remembered-"));
  process.env.XDG_CACHE_HOME = join(folder, "cache");
  const python = { version: "3.12.1", libraries: ["numpy"], folders: [join(folder, "dist-packages")] };
  found = { tier: "bwrap", profile: "own-proc", description: "bubblewrap", python };
});
afterEach(async () => {
  if (XDG_CACHE_HOME === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = XDG_CACHE_HOME;
  await rm(folder, { recursive: true, force: true });
});

const memory = (settings: unknown = { tier: "auto" }) => openMachineMemory(folder, settings);
const cache = () => join(folder, "cache/manyhands");
async function kept(): Promise<string> {
  const [name = ""] = await readdir(cache());
  return join(cache(), name);
}
const change = async (how: (kept: object) => unknown) => {
  const path = await kept();
  await writeFile(path, JSON.stringify(how(await Bun.file(path).json())));
};

test("what a start found out is known to the next one with the same settings, until it is forgotten", async () => {
  expect(await memory().recall()).toBeUndefined();
  await memory().remember(found);
  expect(await memory().recall()).toEqual(found);
  expect(await memory({ tier: "srt" }).recall()).toBeUndefined();
  await memory({ tier: "srt" }).remember({ ...found, tier: "srt" });
  expect(await memory().recall()).toEqual(found);
  await memory().forget();
  expect(await memory().recall()).toBeUndefined();
  await memory().forget();
  expect(await memory({ tier: "srt" }).recall()).toMatchObject({ tier: "srt" });
});

test("a cache folder that is set to nothing is the user's own", async () => {
  process.env.XDG_CACHE_HOME = "";
  using _ = spyOn(os, "homedir").mockReturnValue(folder);
  await memory().remember(found);
  expect(await readdir(join(folder, ".cache/manyhands"))).toHaveLength(1);
  expect(await memory().recall()).toEqual(found);
});

const changes: Readonly<Record<string, () => Promise<unknown>>> = {
  "its Python got a library": () => mkdir(join(folder, "dist-packages")),
  "commands are confined in another way": () => change((all) => ({ ...all, confinement: "of another boot" })),
  "it was written by another release": () => change((all) => ({ ...all, more: true })),
  "its tier is none": () => change((all) => ({ ...all, found: { ...found, tier: "none" } })),
  "it is cut off": async () => writeFile(await kept(), '{"confinement":'),
};
for (const [why, happens] of Object.entries(changes))
  test(`nothing is known of a machine any more when ${why}`, async () => {
    await memory().remember(found);
    await happens();
    expect(await memory().recall()).toBeUndefined();
  });

test.skipIf(process.geteuid?.() !== 0)("what another user wrote into the cache does not count", async () => {
  await memory().remember(found);
  await chown(await kept(), 65_534, 65_534);
  expect(await memory().recall()).toBeUndefined();
});

test("a cache folder that cannot be written is no failure of the start", async () => {
  await writeFile(join(folder, "cache"), "");
  await memory().remember(found);
  expect(await memory().recall()).toBeUndefined();
  await memory().forget();
});
