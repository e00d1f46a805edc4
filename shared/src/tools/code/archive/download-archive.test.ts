import { expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import type { EgressRequest } from "../../../machine/egress/fetch-within.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { downloadArchive, isOnForge, sourceAddress } from "./download-archive.ts";

/** An egress whose every address answers this, and what it was asked. */
function answering(status: number, body = "packed") {
  const asked: EgressRequest[] = [];
  const egress: Egress = {
    async fetch(request) {
      asked.push(request);
      return { url: new URL(request.url), status, headers: {}, body: Buffer.from(body) };
    },
  };
  return { asked, egress };
}

const address = "https://code.example/a.tar.gz";

test("an archive from the web is a file of nobody's, which is gone once it was used", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const { asked, egress } = answering(200);
  const { signal } = new AbortController();
  const staging = join(workspace.metaRoot, "staging");
  {
    await using archive = await downloadArchive(address, egress, contextForTest(workspace, { signal }));
    expect([archive.size, (await archive.handle.readFile()).length, archive.workspace]).toEqual([6, 0, undefined]);
    const { buffer } = await archive.handle.read(Buffer.alloc(6), 0, 6, 0);
    expect(buffer.toString()).toBe("packed");
    const [name = ""] = await readdir(staging);
    expect((await stat(join(staging, name))).mode & 0o777).toBe(0o600);
  }
  expect(await readdir(staging)).toEqual([]);
  expect(asked).toMatchObject([{ url: address, timeoutMs: 180_000, maxBytes: 100 * 1024 ** 2 }]);
  expect(asked[0]?.signal).toBe(signal);
  const ending = (url: string) =>
    asked[0]?.admit?.(new URL(url)).then(
      () => "admitted",
      (error: AppError) => error.code,
    );
  expect(await Promise.all(["https://other.example/", "http://code.example/"].map(ending))).toEqual([
    "admitted",
    "forbidden",
  ]);
});

test.each([
  [201, "unavailable"],
  [204, "unavailable"],
  [304, "unavailable"],
  [401, "not_found"],
  [403, "not_found"],
  [404, "not_found"],
  [410, "unavailable"],
  [500, "unavailable"],
])("an address that answers %d is %s, and leaves nothing", async (status, code) => {
  await using place = await workspaceForTest();
  const downloading = downloadArchive(address, answering(status).egress, contextForTest(place.workspace));
  await expect(downloading).rejects.toMatchObject({ code, message: expect.stringContaining(`status ${status}`) });
  await expect(downloading).rejects.toBeInstanceOf(AppError);
  expect(await readdir(join(place.workspace.metaRoot, "staging")).catch(() => [])).toEqual([]);
});

test("an address is on a server of many people's repositories by its host, over https alone", () => {
  const on = [
    "https://github.com/a/b",
    " https://www.gitlab.com/a",
    "https://codeberg.org/",
    "https://bitbucket.org/a/b",
  ];
  const off = [
    ...["http://github.com/a/b", "https://github.com.evil.example/a/b", "https://api.github.com/a/b"],
    ...["https://github.com:8443/a/b", "ftp://github.com/a/b", "github.com/a/b", ""],
  ];
  expect([on.map(isOnForge), off.map(isOnForge)]).toEqual([on.map(() => true), off.map(() => false)]);
});

test("a name of dots alone is no repository's", () => {
  for (const address of ["https://code.example/.../b", "https://code.example/a/..../b"])
    expect(() => sourceAddress(address)).toThrow(expect.objectContaining({ code: "invalid_input" }));
});

test("what an address carries besides a repository's place goes nowhere with it", () => {
  const repository = sourceAddress("https://user:secret@code.example/a/b.git/#readme");
  expect(repository).toEqual({
    kind: "repository",
    url: "https://code.example/a/b.git",
    name: "b",
    archive: undefined,
  });
});
