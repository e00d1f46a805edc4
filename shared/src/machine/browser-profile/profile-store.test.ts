import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openProfiles } from "../../server/storage/open-profiles.ts";
import { profileFiles } from "./profile-files.ts";
import { createProfileStore, hasSomethingOf, type ProfileStore } from "./profile-store.ts";

let home = "";
let store: ProfileStore;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-profiles-"));
  store = createProfileStore(profileFiles(home));
});
afterEach(() => rm(home, { recursive: true }));

const stateOf = (value: string) => ({
  cookies: [{ name: "session", value, domain: ".shop.example", path: "/" }],
  origins: [{ origin: "https://app.example:8443", localStorage: [] }],
});
const files = async () => (await readdir(home, { recursive: true })).filter((name) => !name.endsWith("key"));

test("what one conversation saves the next one has, sealed on disk, and another principal sees none of it", async () => {
  const first = await store.open("ada", "main", "c1");
  expect(first).toMatchObject({ isKept: true, state: { cookies: [] } });
  expect(await first.save(stateOf("sesame"))).toBe(true);
  await first.release();
  expect((await store.open("ada", "main", "c2")).state).toEqual(stateOf("sesame"));
  expect((await store.open("bob", "main", "c1")).state.cookies).toEqual([]);
  expect(await store.list("ada")).toMatchObject([
    { name: "main", sites: ["app.example:8443", "shop.example"], inUse: true, savedAt: expect.any(Number) },
  ]);
  expect((await store.list("bob"))[0]?.sites).toEqual([]);
  expect(await store.list("eve")).toEqual([]);
  for (const name of await files()) {
    const content = await readFile(join(home, name), "latin1").catch(() => "");
    expect(content).not.toContain("sesame");
    expect(content).not.toContain("shop.example");
  }
});

test("one conversation at a time keeps what it does; the same one takes over from a process that died", async () => {
  const [one, other] = await Promise.all([store.open("ada", "main", "c1"), store.open("ada", "main", "c2")]);
  expect([one, other].map(({ isKept }) => isKept).toSorted()).toEqual([false, true]);
  const holder = one.isKept ? one : other;
  const copy = one.isKept ? other : one;
  expect(await copy.save(stateOf("lost"))).toBe(false);
  expect(await holder.save(stateOf("kept"))).toBe(true);
  const again = await createProfileStore(profileFiles(home)).open("ada", "main", one.isKept ? "c1" : "c2");
  expect(again).toMatchObject({ isKept: true, state: stateOf("kept") });
  expect(await holder.save(stateOf("late"))).toBe(false);
  expect(await holder.renew()).toBe(false);
  await holder.release();
  expect(await again.renew()).toBe(true);
  expect((await store.open("ada", "main", "c3")).state).toEqual(stateOf("kept"));
});

test("a profile whose conversation is not heard of is another's after half a minute, and what that left is kept", async () => {
  const gone = await store.open("ada", "main", "c1");
  await gone.save(stateOf("kept"));
  const now = Date.now();
  using clock = spyOn(Date, "now").mockReturnValue(now + 29_000);
  expect((await store.open("ada", "main", "c2")).isKept).toBe(false);
  expect(await gone.renew()).toBe(true);
  clock.mockReturnValue(now + 58_000);
  expect((await store.open("ada", "main", "c2")).isKept).toBe(false);
  clock.mockReturnValue(now + 60_000);
  expect((await store.list("ada"))[0]?.inUse).toBe(false);
  expect(await store.open("ada", "main", "c2")).toMatchObject({ isKept: true, state: stateOf("kept") });
  expect([await gone.renew(), await gone.save(stateOf("late"))]).toEqual([false, false]);
});

test("a deletion leaves nothing on disk, not even of a save that was killed, and no later save brings it back", async () => {
  const open = await store.open("ada", "main", "c1");
  await open.save(stateOf("sesame"));
  await store.open("ada", "other", "c1");
  const [file = ""] = (await files()).filter((name) => name.endsWith("profile-main.text"));
  await writeFile(join(home, `${file}.${crypto.randomUUID()}`), "half a save");
  expect(await store.remove("bob", "main")).toBe(false);
  expect(await store.remove("ada", "main")).toBe(true);
  expect(await open.save(stateOf("sesame"))).toBe(false);
  expect(await open.renew()).toBe(false);
  expect((await files()).filter((name) => name.includes("main"))).toEqual([]);
  expect(await store.remove("ada", "main")).toBe(false);
  await store.remove("ada", "other");
  expect(await files()).toEqual(["browser-profiles"]);
});

test("a profile that another key sealed, or that stands for another, is not opened, but is deleted", async () => {
  for (const principal of ["ada", "bob"]) await (await store.open(principal, "main", "c1")).release();
  const [one = "", other = ""] = (await files()).filter((name) => name.endsWith(".text"));
  await writeFile(join(home, one), await readFile(join(home, other)));
  await expect(store.open("ada", "main", "c2").then(() => store.open("bob", "main", "c2"))).rejects.toMatchObject({
    code: "config_invalid",
  });
  const problems = [...(await store.list("ada")), ...(await store.list("bob"))].map(({ problem }) => problem);
  expect(problems.filter((problem) => problem !== undefined).length).toBe(1);
  expect(await store.remove("ada", "main")).toBe(true);
  expect(await store.remove("bob", "main")).toBe(true);
});

test("a state has something of the sites of its cookies and of its storage, and of no look-alike", () => {
  const has = (url: string) => hasSomethingOf(stateOf("x"), new URL(url));
  expect(["https://shop.example/", "https://www.shop.example/a", "https://app.example:8443"].map(has)).toEqual([
    true,
    true,
    true,
  ]);
  expect(["https://myshop.example/", "https://shop.example.evil.example", "https://app.example"].map(has)).toEqual([
    false,
    false,
    false,
  ]);
});

test("a kill -9 in the middle of a save leaves a whole profile, which another conversation has at once", async () => {
  const program = join(import.meta.dir, "../../testing/browser/save-profile-process.ts");
  for (const afterMs of [0, 7]) {
    const child = Bun.spawn([process.execPath, program, home], { stdout: "pipe", stderr: "inherit" });
    await child.stdout.getReader().read();
    expect((await openProfiles(profileFiles(home)).open("ada", "main", "meanwhile")).isKept).toBe(false);
    await Bun.sleep(afterMs);
    child.kill("SIGKILL");
    await child.exited;
    const next = await openProfiles(profileFiles(home)).open("ada", "main", `after ${afterMs}`);
    expect(next.isKept).toBe(true);
    expect(next.state.cookies).toHaveLength(1_000);
    expect(new Set(next.state.cookies.map(({ value }) => value)).size).toBe(1);
    await next.release();
  }
});
