import { expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import { browsersForTest } from "../../testing/browser/browsers.ts";
import { answered } from "../browser-process/answered.ts";
import { sweepServerFolders } from "../browser-process/server-folder.ts";

test("a browser that is not there is said to be that with every use, and leaves nothing", async () => {
  await using lab = await browsersForTest([], { executable: "/nonexistent/chromium" });
  const missing = {
    code: "config_invalid",
    message: "browser.chrome_instance_path is /nonexistent/chromium, which does not exist.",
  };
  for (let use = 0; use < 2; use++) await expect(lab.open("one")).rejects.toMatchObject(missing);
  const options = { signal: new AbortController().signal, timeoutMs: 5_000 };
  await expect(lab.browsers.render("http://a.example/", options)).rejects.toMatchObject(missing);
  expect(lab.browsers.peek(await lab.workspace("one"))).toBeUndefined();
  expect(lab.browsers.describe()).toEqual({
    kind: "chromium",
    version: undefined,
    sandbox: undefined,
    egress: undefined,
  });
});

test("a browser that ends at once is told with its last words, and its files are gone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-broken-"));
  // The browser runs as another user.
  await chmod(folder, 0o755);
  const executable = join(folder, "chromium");
  await writeFile(executable, "#!/bin/sh\necho 'a first line' >&2\necho 'error: no display' >&2\nexit 3\n", {
    mode: 0o755,
  });
  await using lab = await browsersForTest([], { executable });
  await expect(lab.open("one")).rejects.toMatchObject({
    code: "unavailable",
    message: `The browser ${executable} did not start: error: no display`,
  });
  const [server = ""] = await readdir(join(lab.home, "browser"));
  expect(await readdir(join(lab.home, "browser", server))).toEqual([]);
  await rm(folder, { recursive: true });
});

test.each(["cdp", "playwright"] as const)(
  "a %s browser that cannot be reached is told by its host, without the secret in its address",
  async (kind) => {
    const address = "//127.0.0.1:1/?token=secret";
    await using lab = await browsersForTest(
      [],
      kind === "cdp" ? { cdpUrl: `http:${address}` } : { wssUrl: `ws:${address}` },
    );
    expect(lab.browsers.describe().kind).toBe(kind);
    await expect(lab.open("one")).rejects.toMatchObject({
      code: "unavailable",
      message: "The browser at 127.0.0.1:1 cannot be reached.",
    });
  },
);

test("who cancels does not wait for a browser", async () => {
  await using lab = await browsersForTest([], { executable: "/nonexistent/chromium" });
  const reason = new Error("enough");
  const open = lab.browsers.open(await lab.workspace("one"), AbortSignal.abort(reason));
  expect(await open.catch((error: unknown) => error)).toBe(reason);
});

test("work that the browser does not finish is told as that, and a reason that is known stays", async () => {
  const unanswered = { code: "unavailable", message: "The browser does not answer, or was ended in the meantime." };
  await expect(answered(5, new Promise(() => undefined))).rejects.toMatchObject(unanswered);
  await expect(answered(5_000, Promise.reject(new Error("closed")))).rejects.toMatchObject(unanswered);
  const known = new AppError("not_found", "There is no tab 9.");
  expect(await answered(5_000, Promise.reject(known)).catch((error: unknown) => error)).toBe(known);
  expect(await answered(5_000, Promise.resolve(1))).toBe(1);
});

test("the folders of processes that are gone are removed, those of others and of something else are not", async () => {
  const parent = await mkdtemp(join(tmpdir(), "manyhands-servers-"));
  await using lab = await browsersForTest([], { folder: parent, executable: "/nonexistent/chromium" });
  const gone = `${2 ** 22 + 1}-1-${crypto.randomUUID()}`;
  const reused = `${process.pid}-1-${crypto.randomUUID()}`;
  for (const name of [gone, reused, "notes", `${2 ** 22 + 1}-1-x`]) await mkdir(join(parent, name));
  await expect(lab.open("one")).rejects.toMatchObject({ code: "config_invalid" });
  await sweepServerFolders(parent);
  expect((await readdir(parent)).toSorted()).toEqual([`${2 ** 22 + 1}-1-x`, "notes"].toSorted());
  await sweepServerFolders(join(parent, "none"));
  await rm(parent, { recursive: true });
});
